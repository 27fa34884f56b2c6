/** Decides about a hold from GitLab's job outcome. Pure: nothing is freed before GitLab was asked. */

import { withoutAbsent } from '../../../policies/without-absent.ts';
import { type GitLabErrorCode, type GitLabJob, isTerminal, REJECTED_BY_ROUTER } from '../gitlab/gitlab.ts';
import { GRACE_SECONDS } from '../ledger/hold-job.ts';
import type { GoneJob, JobEnd, JobRecord } from '../ledger/ledger.ts';
import { isLive, settleMove } from '../ledger/settle.ts';

type HoldAction =
  | { readonly do: 'settle'; readonly end: JobEnd }
  | { readonly do: 'release'; readonly gone: GoneJob }
  | { readonly do: 'expire'; readonly gone: GoneJob }
  | { readonly do: 'postpone'; readonly jobId: number; readonly dueAtMs: number }
  | { readonly do: 'keep'; readonly jobId: number };

/** A decision about any job. `charge`: it ran and has no record. */
export type JobAction = HoldAction | { readonly do: 'charge'; readonly gitlabJob: GitLabJob };

/** On top of timeout and grace: what a webhook and this sweep's own minute take. */
const SLACK_SECONDS = 60;
/** A job that ran past its time is asked about again and again, but never in the same minute. */
const AHEAD_MS_MIN = 60_000;

export function actionForHold(hold: LiveHold, gitlabJob: GitLabJob | undefined, nowMs: number): HoldAction {
  const { jobId } = hold;
  const due = hold.dueAtMs <= nowMs;
  if (gitlabJob === undefined) {
    // A new job may not have reached the replica that answers, and a token without access to a project sees a 404, too.
    return due ? { do: 'expire', gone: { jobId, cause: 'unknown_to_gitlab' } } : { do: 'keep', jobId };
  }
  const what = endOfJob(gitlabJob, nowMs);
  switch (what.kind) {
    case 'ran':
      return { do: 'settle', end: { ...what.end, final: true } };
    case 'gone':
      return { do: 'release', gone: { jobId, cause: gitlabJob.failureReason ?? what.cause } };
    case 'unclear':
      return { do: 'settle', end: unclearEnd(gitlabJob, hold.estimateSeconds, nowMs) };
    case 'open':
      return due
        ? { do: 'postpone', jobId, dueAtMs: nextDueMs(hold, gitlabJob, nowMs) }
        : { do: 'keep', jobId };
  }
}

/**
 * | GitLab says | record | becomes |
 * | --- | --- | --- |
 * | not ended yet (also `running`) | any | unchanged |
 * | ended, ran | HELD, RUNNING | SETTLED at GitLab's duration |
 * | | SETTLED, RELEASED, EXPIRED | SETTLED by a correction entry, if the charge differs |
 * | | REJECTED | SETTLED, unchecked `bypass`, flagged |
 * | | none | SETTLED, unchecked `bypass`, on the counters of today's rules |
 * | | none, on a runner out of the controller's scope | unchanged |
 * | ended, with an unknown duration | HELD, RUNNING | SETTLED at its estimate |
 * | rejected by the router, or never ran | HELD, RUNNING | RELEASED; reported if by the router |
 * | | SETTLED | SETTLED at 0 by a correction entry |
 * | no such job | HELD, RUNNING, and due | EXPIRED |
 * | anything else | any, or none | unchanged |
 */
export function actionForJob(
  record: JobRecord | undefined,
  gitlabJob: GitLabJob | undefined,
  nowMs: number,
): JobAction {
  const hold = toLiveHold(record);
  if (hold !== undefined) return actionForHold(hold, gitlabJob, nowMs);
  const keep = { do: 'keep', jobId: record?.jobId ?? gitlabJob?.jobId ?? 0 } as const;
  const end = gitlabJob && endCharged(gitlabJob, record, nowMs);
  if (gitlabJob === undefined || end === undefined) return keep;
  if (record === undefined) return { do: 'charge', gitlabJob };
  return settleMove(record, end, nowMs).record === undefined ? keep : { do: 'settle', end };
}

function endCharged(gitlabJob: GitLabJob, record: JobRecord | undefined, nowMs: number): JobEnd | undefined {
  const what = endOfJob(gitlabJob, nowMs);
  if (what.kind === 'ran') return { ...what.end, final: true };
  // A job that never ran costs nothing, also if a webhook reported that it ran.
  if (what.kind !== 'gone' || record?.state !== 'SETTLED' || record.durationSeconds === 0) return undefined;
  return {
    jobId: gitlabJob.jobId,
    durationSeconds: 0,
    endedAtMs: gitlabJob.finishedAtMs ?? nowMs,
    final: true,
  };
}

/** It ran with an unknown duration: its estimate is charged, because there is no other source. */
const unclearEnd = (gitlabJob: GitLabJob, durationSeconds: number, nowMs: number): JobEnd => ({
  jobId: gitlabJob.jobId,
  durationSeconds,
  endedAtMs: gitlabJob.finishedAtMs ?? nowMs,
  ...startFields(gitlabJob),
});

function nextDueMs(hold: LiveHold, { status, startedAtMs }: GitLabJob, nowMs: number): number {
  if (status !== 'running' && status !== 'canceling') return nowMs + waitingMs(nowMs - hold.decidedAtMs);
  const longestSeconds = hold.timeoutSeconds + GRACE_SECONDS + SLACK_SECONDS;
  return Math.max((startedAtMs ?? hold.decidedAtMs) + longestSeconds * 1000, nowMs + AHEAD_MS_MIN);
}

/** The sweep's fields of a live record; ten thousand take a few megabytes. */
export interface LiveHold {
  readonly jobId: number;
  readonly decidedAtMs: number;
  readonly dueAtMs: number;
  readonly timeoutSeconds: number;
  readonly estimateSeconds: number;
  /** Absent: GitLab can only be asked about the job by way of its runner. */
  readonly projectId?: number;
  readonly runnerId?: number;
}

/** Undefined: the job ended, was never held, or is yet to be asked about. */
export function toLiveHold(record: JobRecord | undefined): LiveHold | undefined {
  if (record?.dueAtMs === undefined || !isLive(record)) return undefined;
  const { jobId, decidedAtMs, dueAtMs, facts } = record;
  const runnerId = facts.asked?.runnerId;
  const { timeoutSeconds, estimateSeconds, projectId } = facts;
  return {
    ...{ jobId, decidedAtMs, dueAtMs, timeoutSeconds, estimateSeconds },
    ...withoutAbsent({ projectId, runnerId }),
  };
}

const MINUTE_MS = 60_000;

/** A job that has not started is checked again after a quarter of its age: a hold of a day costs a few dozen calls. */
const waitingMs = (ageMs: number): number =>
  Math.round(Math.min(60 * MINUTE_MS, Math.max(5 * MINUTE_MS, ageMs / 4)));

/** One job may fail forever; it must not block the others. */
const ERROR_MS: Readonly<Record<GitLabErrorCode, number>> = {
  gitlab_unavailable: 2 * MINUTE_MS,
  gitlab_rate_limited: MINUTE_MS,
  gitlab_refused: 10 * MINUTE_MS,
  gitlab_unreadable: 30 * MINUTE_MS,
};

/** GitLab's own request counts, but no hold may be put off for ever by it. */
export const errorMs = (code: GitLabErrorCode, retryAfterMs = 0): number =>
  Math.max(ERROR_MS[code], Math.min(retryAfterMs, 60 * MINUTE_MS));

export type EndOfJob =
  | { readonly kind: 'ran'; readonly end: JobEnd }
  | { readonly kind: 'gone'; readonly cause: string }
  /** It ended, and GitLab does not say how long it ran: the sweep asks. */
  | { readonly kind: 'unclear' }
  | { readonly kind: 'open' };

/**
 * `running` is `open`: GitLab calls a job running once a runner has picked it up, before the router asks about it. A record made of that
 * word would answer the question, and no limit would ever refuse the job.
 */
export function endOfJob(gitlabJob: GitLabJob, nowMs: number): EndOfJob {
  const { jobId, status, startedAtMs, finishedAtMs, failureReason } = gitlabJob;
  if (!isTerminal(status)) return { kind: 'open' };
  // It did have a runner for a moment, and so a start and a duration.
  if (status === 'failed' && failureReason === REJECTED_BY_ROUTER) {
    return { kind: 'gone', cause: REJECTED_BY_ROUTER };
  }
  const durationSeconds = jobSeconds(gitlabJob);
  if (startedAtMs === undefined && !(durationSeconds !== undefined && durationSeconds > 0)) {
    return status === 'success' ? { kind: 'unclear' } : { kind: 'gone', cause: status };
  }
  if (durationSeconds === undefined) return { kind: 'unclear' };
  const endedAtMs =
    finishedAtMs ?? (startedAtMs === undefined ? nowMs : startedAtMs + Math.ceil(durationSeconds * 1000));
  return {
    kind: 'ran',
    end: {
      ...{ jobId, durationSeconds, endedAtMs, ...startFields(gitlabJob) },
      ...(status !== 'skipped' && { outcome: status }),
    },
  };
}

const startFields = ({ runnerId, retryCount, queuedSeconds }: GitLabJob) =>
  withoutAbsent({
    ...{ runnerId, retryCount },
    queuedSeconds: queuedSeconds === undefined ? undefined : Math.round(queuedSeconds),
  });

/** GitLab's count, else from start to finish; a clock that went backwards makes 0 of it. Undefined while it runs. */
export function jobSeconds({ durationSeconds, startedAtMs, finishedAtMs }: GitLabJob): number | undefined {
  if (durationSeconds !== undefined) return Math.max(0, durationSeconds);
  if (startedAtMs === undefined || finishedAtMs === undefined) return undefined;
  return Math.max(0, finishedAtMs - startedAtMs) / 1000;
}
