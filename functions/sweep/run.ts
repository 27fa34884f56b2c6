import { keepLatest } from '../../policies/keep-latest.ts';
import type { LedgerClock, Log } from '../core/environment/environment.ts';
import {
  GitLabError,
  type GitLabErrorCode,
  type GitLabJob,
  type JobList,
  type JobsPage,
} from '../core/gitlab/gitlab.ts';
import type { GitLab } from '../core/gitlab/rest-gitlab.ts';
import { errorMs } from '../core/job-ends/actions.ts';
import { type ActionWriter, type ChargeBypass, newConcludeTally } from '../core/job-ends/conclude.ts';
import type { ReportedEnds, SweepCheckpointStore } from '../core/ledger/checkpoints.ts';
import type { ControllerScope } from '../core/ledger/controller.ts';
import type { DueJob, Ledger } from '../core/ledger/ledger.ts';
import type { ClosedPeriods } from '../core/ledger/rebuild.ts';
import type { Metrics } from '../core/metrics.ts';
import * as names from '../names.ts';

export interface SweepDeps {
  readonly gitlab: GitLab;
  readonly ledger: Pick<
    Ledger,
    'dueJobs' | 'readRecords' | 'settle' | 'release' | 'expire' | 'postpone' | 'endReservations'
  >;
  readonly marks: SweepCheckpointStore;
  readonly reported?: ReportedEnds;
  readonly chargeBypass: ChargeBypass;
  readonly closePeriods?: (deadlineMs: number) => Promise<ClosedPeriods>;
  readonly memory: SweepMemory;
  readonly clock: LedgerClock;
  readonly scope?: ControllerScope | undefined;
  readonly chargeUnknown: 'hold' | 'nothing';
  /** @default 50 000: the schedule comes every minute. Calls under way at its end still end. */
  readonly runMs?: number;
  readonly callsMax?: number;
}

export interface SweepRun extends SweepDeps {
  readonly boundedGitLab: SweepGitLab;
  readonly concluding: ActionWriter;
  readonly tally: SweepTally;
  readonly checkedJobIds: Set<number>;
  /** All jobs in the due index at the start, reservations included, oldest due first; at most `LIVE_MAX`. */
  readonly live: readonly DueJob[];
  readonly liveIds: ReadonlySet<number>;
  readonly untracked: Map<number, GitLabJob>;
}

/** Installations with a runner per job would fill it; others are asked individually. */
const RUNNERS_MAX = 2_000;
/** Some hours of a large instance, a few megabytes; what does not fit is read from the ledger once more. */
const SEEN_MAX = 50_000;

export type SweepMemory = ReturnType<typeof newSweepMemory>;

/** State that a process keeps between sweeps. It only saves calls: a new process learns it again. */
export const newSweepMemory = () => ({
  /** Runners that had live holds when last seen: one list of each shows most running jobs. */
  runners: new Set<number>(),
  /** When GitLab last answered that a live job still runs, by job; the job that waits longest is asked about first. */
  lookedAtMs: new Map<number, number>(),
  runnerOf: new Map<number, number>(),
  visits: new Map<number, number>(),
  /** Jobs that the search skips, and since when: they were admitted, or are over and charged. */
  seenAtMs: new Map<number, number>(),
  quietUntilMs: 0,
  closedAtMs: Number.NEGATIVE_INFINITY,
  /** Progress in one half hour of reported ends: ids of compared jobs, and the pages with which GitLab's lists go on. */
  confirming: { slot: 0, done: new Set<number>(), pages: new Map<JobList, string>() },
});

export function rememberRunner(memory: SweepMemory, jobId: number, runnerId: number | undefined): void {
  if (runnerId === undefined) return;
  memory.runnerOf.set(jobId, runnerId);
  if (memory.runners.size < RUNNERS_MAX) memory.runners.add(runnerId);
}

/** Jobs that appear count as looked at now: what was there before them comes first. */
export function keepLive(memory: SweepMemory, liveIds: ReadonlySet<number>, nowMs: number): void {
  for (const map of [memory.lookedAtMs, memory.runnerOf]) {
    for (const jobId of map.keys()) if (!liveIds.has(jobId)) map.delete(jobId);
  }
  for (const jobId of liveIds) if (!memory.lookedAtMs.has(jobId)) memory.lookedAtMs.set(jobId, nowMs);
}

export function rememberSeen({ seenAtMs }: SweepMemory, jobId: number, nowMs: number): void {
  keepLatest(seenAtMs, jobId, nowMs, SEEN_MAX);
}

export function forgetSeen({ seenAtMs }: SweepMemory, beforeMs: number): void {
  for (const [jobId, atMs] of seenAtMs) {
    if (atMs >= beforeMs) return;
    seenAtMs.delete(jobId);
  }
}

// Calls GitLab within bounds on calls and time, and pauses when GitLab limits the rate. Errors become values.

export type GitLabAnswer<T> =
  | { readonly kind: 'answered'; readonly value: T }
  /** GitLab did not say; `againMs`: how long to leave this question alone. */
  | { readonly kind: 'failed'; readonly code: GitLabErrorCode; readonly againMs: number }
  /** Never asked: out of time, out of calls, or GitLab is silent. */
  | { readonly kind: 'unsent' };

/** One odd job fails alone; this many failures with no answer between them are GitLab itself, its URL or our token. */
const FAILURES_MAX = 5;

/** In one run. GitLab allows a user 600 calls a minute for lists of projects' jobs; other programs use the token, too. */
const PROJECT_PAGES_MAX = 400;

const UNSENT = { kind: 'unsent' } as const;

export type SweepGitLab = ReturnType<typeof createSweepGitLab>;

export function createSweepGitLab(
  gitlab: GitLab,
  { clock, tally, memory }: Pick<SweepDeps, 'clock' | 'memory'> & { readonly tally: SweepTally },
) {
  let untilMs = 0;
  let callsLeft = 0;
  let failures = 0;
  let projectPages = 0;

  const quiet = (): boolean => failures >= FAILURES_MAX || clock.nowMs() < memory.quietUntilMs;
  const mayAsk = (): boolean => {
    if (quiet()) tally.gitlabSilent = true;
    else if (callsLeft > 0 && clock.monotonicMs() < untilMs) return true;
    else tally.cutShort = true;
    return false;
  };

  async function ask<T>(call: () => Promise<T>): Promise<GitLabAnswer<T>> {
    if (!mayAsk()) return UNSENT;
    callsLeft -= 1;
    tally.calls += 1;
    try {
      const value = await call();
      failures = 0;
      return { kind: 'answered', value };
    } catch (error) {
      if (!(error instanceof GitLabError)) throw error;
      tally.errors[error.code] += 1;
      tally.gitlabError = error.message;
      const againMs = errorMs(error.code, error.retryAfterMs);
      failures += 1;
      if (error.code === 'gitlab_rate_limited') memory.quietUntilMs = clock.nowMs() + againMs;
      if (quiet()) tally.gitlabSilent = true;
      return { kind: 'failed', code: error.code, againMs };
    }
  }

  return {
    job: (projectId: number, jobId: number) => ask(() => gitlab.job(projectId, jobId)),
    listJobs: async (
      list: JobList,
      options: Parameters<GitLab['listJobs']>[1],
    ): Promise<GitLabAnswer<JobsPage>> => {
      if (list.startsWith('projects/')) projectPages += 1;
      if (list.startsWith('projects/') && projectPages > PROJECT_PAGES_MAX) {
        tally.cutShort = true;
        return UNSENT;
      }
      const answer = await ask(() => gitlab.listJobs(list, options));
      // Unreadable jobs are missing in a list; their holders ask individually.
      if (answer.kind === 'answered') tally.errors.gitlab_unreadable += answer.value.unreadable ?? 0;
      return answer;
    },
    runners: (page: string | undefined) => ask(() => gitlab.runners({ page })),
    mayAsk,
    /** From now on: until this time (monotonic), and at most this number of calls more. */
    allow: (newUntilMs: number, callsMax: number): void => {
      untilMs = newUntilMs;
      callsLeft = callsMax;
    },
  };
}

export type SweepTally = ReturnType<typeof newTally>;

export type SweepReport = Readonly<SweepTally>;

export const newTally = () => ({
  /** Due holds found at the start, at most as many as one run takes. */
  due: 0,
  /** Age of the oldest due hold, or of the oldest unconfirmed end; 0 without any. */
  oldestDueAgeMs: 0,
  ...newConcludeTally(),
  ...{ live: 0, verified: 0, calls: 0 },
  /** Holds without a project's id, which no runner's list showed: GitLab cannot be asked about them. */
  unaskable: 0,
  /** Each counted about once. The share of `unadmitted` over many runs is the share of bypassed jobs. */
  ran: 0,
  /** Part of `ran`: without an admission, whether charged now or before. */
  unadmitted: 0,
  /** Ran or run on runners that GitLab does not ask us about: no part of `ran`, and charged nothing. */
  outOfScope: 0,
  /** Part of `ran`: rejected, but GitLab follows no answer while the controller is not enabled. No part of `unadmitted`. */
  ranRejected: 0,
  /** Periods that got their closing entry, and those that were due and have live jobs or a counter that drifts. */
  ...{ closedPeriods: 0, waitingPeriods: 0 },
  errors: { gitlab_unavailable: 0, gitlab_rate_limited: 0, gitlab_refused: 0, gitlab_unreadable: 0 },
  gitlabError: undefined as string | undefined,
  /** GitLab does not answer or does not want to: nothing was freed for it, and the run ended early. */
  gitlabSilent: false,
  cutShort: false,
});

const JOBS_SHOWN_MAX = 50;

export function logSweepReport({ errors, admittedYetFailed, ...numbers }: SweepReport, log: Log): void {
  // Failed with `job_router_failure`: the decision arrived wrong or too late, or another controller refused the job.
  if (admittedYetFailed.length > 0)
    log.warn('admitted, yet failed by the job router', {
      jobs: admittedYetFailed.length,
      jobIds: admittedYetFailed.slice(0, JOBS_SHOWN_MAX).map(String),
    });
  const fields = { ...numbers, admittedYetFailed: admittedYetFailed.length, ...errors };
  if (numbers.gitlabSilent) log.warn('sweep: GitLab does not answer, holds stay as they are', fields);
  else if (numbers.cutShort) log.warn('sweep: cut short, the next run goes on', fields);
  else log.info('sweep', fields);
}

export function measureSweepReport(report: SweepReport, metrics: Metrics): void {
  metrics.add(names.FUNCTION_METRIC.liveHolds, report.live);
  metrics.add(names.FUNCTION_METRIC.oldestDueAgeSeconds, report.oldestDueAgeMs / 1000);
  metrics.add(names.FUNCTION_METRIC.gitLabSilent, report.gitlabSilent ? 1 : 0);
  metrics.add(names.FUNCTION_METRIC.healedBySweep, report.settled + report.released + report.expired);
  metrics.add(names.FUNCTION_METRIC.admittedYetFailed, report.admittedYetFailed.length);
  metrics.add(names.FUNCTION_METRIC.bypassJobs, report.unadmitted);
  metrics.add(names.FUNCTION_METRIC.outOfScopeJobs, report.outOfScope);
  metrics.add(names.FUNCTION_METRIC.ranJobs, report.ran);
  metrics.flush();
}
