/** Interprets one job outcome from GitLab for the ledger. Pure. */
import { withoutAbsent } from '../../../policies/without-absent.ts';
import { isTerminal, type JobTruth, REJECTED_BY_ROUTER } from '../gitlab/index.ts';
import type { JobEnd } from '../ledger/index.ts';

export type EndOfJob =
  /** It ran: charge what it took. */
  | { readonly kind: 'ran'; readonly end: JobEnd }
  /** It ended and never ran: give back what it holds. */
  | { readonly kind: 'gone'; readonly cause: string }
  /** It ended, and GitLab does not say how long it ran: the sweep asks. */
  | { readonly kind: 'unclear' }
  /** It has not ended. */
  | { readonly kind: 'open' };

/**
 * `running` is `open` like every other state before the end. GitLab calls a job running once a runner has picked it up,
 * which is before the router asks about it: a record made of that word would answer the question, and no limit would
 * ever refuse the job. Nor is there anything to gain: the hold was due from the same moment. Who runs without having been
 * asked about is found by the sweep while it runs, and here at its end.
 *
 * @param nowMs stands in for an end GitLab does not date.
 */
export function endOfJob(truth: JobTruth, nowMs: number): EndOfJob {
  const { jobId, status, startedAtMs, finishedAtMs, failureReason } = truth;
  if (!isTerminal(status)) return { kind: 'open' };
  // It did have a runner for a moment, and so a start and a duration.
  if (status === 'failed' && failureReason === REJECTED_BY_ROUTER) {
    return { kind: 'gone', cause: REJECTED_BY_ROUTER };
  }
  const durationSeconds = secondsOf(truth);
  if (startedAtMs === undefined && !(durationSeconds !== undefined && durationSeconds > 0)) {
    return status === 'success' ? { kind: 'unclear' } : { kind: 'gone', cause: status };
  }
  if (durationSeconds === undefined) return { kind: 'unclear' };
  const endedAtMs =
    finishedAtMs ?? (startedAtMs === undefined ? nowMs : startedAtMs + Math.ceil(durationSeconds * 1000));
  return {
    kind: 'ran',
    end: {
      ...{ jobId, durationSeconds, endedAtMs, ...startOf(truth) },
      ...(status !== 'skipped' && { outcome: status }),
    },
  };
}

/** GitLab's facts about the job's start, for its end. */
export const startOf = ({
  runnerId,
  retryCount,
  queuedSeconds,
}: JobTruth): Pick<JobEnd, 'runnerId' | 'retryCount' | 'queuedSeconds'> =>
  withoutAbsent({
    runnerId,
    retryCount,
    queuedSeconds: queuedSeconds === undefined ? undefined : Math.round(queuedSeconds),
  });

/** GitLab's count, else from start to finish; a clock that went backwards makes 0 of it. */
function secondsOf({ durationSeconds, startedAtMs, finishedAtMs }: JobTruth): number | undefined {
  if (durationSeconds !== undefined) return Math.max(0, durationSeconds);
  if (startedAtMs === undefined || finishedAtMs === undefined) return undefined;
  return Math.max(0, finishedAtMs - startedAtMs) / 1000;
}

const RANK = { open: 0, gone: 1, unclear: 2, ran: 3 } as const;

/**
 * Returns true if the first outcome wins, in any order of arrival: a run wins over no run, as in the ledger;
 * then the later end, then the longer duration.
 */
export function outdoes(one: EndOfJob, other: EndOfJob): boolean {
  if (one.kind !== 'ran' || other.kind !== 'ran') return RANK[one.kind] > RANK[other.kind];
  const laterMs = one.end.endedAtMs - other.end.endedAtMs;
  return laterMs !== 0 ? laterMs > 0 : one.end.durationSeconds > other.end.durationSeconds;
}
