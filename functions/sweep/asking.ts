/** GitLab under a bound: so many calls, so much time, and silence when it wants to be left alone. Errors become values. */

import type { LedgerClock } from '../core/environment/index.ts';
import {
  type GitLab,
  GitLabError,
  type GitLabErrorCode,
  type JobList,
  type JobsPage,
  type JobTruth,
  type RunnersPage,
} from '../core/gitlab/index.ts';
import { errorMs } from '../core/truth/index.ts';
import type { SweepTally } from './report.ts';
import type { SweepMemory } from './sweep-memory.ts';

export type GitLabAnswer<T> =
  | { readonly kind: 'said'; readonly value: T }
  /** GitLab did not say; `againMs`: how long to leave this question alone. */
  | { readonly kind: 'failed'; readonly code: GitLabErrorCode; readonly againMs: number }
  /** Never asked: out of time, out of calls, or GitLab is silent. */
  | { readonly kind: 'unasked' };

/** One odd job fails alone; this many failures with no answer between them are GitLab itself, its URL or our token. */
const FAILURES_MAX = 5;

/** In one run. GitLab allows a user 600 calls a minute for lists of projects' jobs; other programs use the token, too. */
const PROJECT_PAGES_MAX = 400;

const UNASKED = { kind: 'unasked' } as const;

export interface SweepGitLab {
  job(projectId: number, jobId: number): Promise<GitLabAnswer<JobTruth | undefined>>;
  listJobs(list: JobList, options: JobsOptions): Promise<GitLabAnswer<JobsPage>>;
  runners(page: string | undefined): Promise<GitLabAnswer<RunnersPage>>;
  /** Returns true if another call is allowed. */
  mayAsk(): boolean;
  /** From now on: until this time (monotonic), and at most so many calls more. */
  allow(untilMs: number, callsMax: number): void;
}

type JobsOptions = Parameters<GitLab['listJobs']>[1];

interface AskingDeps {
  readonly gitlab: GitLab;
  readonly clock: LedgerClock;
  readonly tally: SweepTally;
  readonly memory: SweepMemory;
}

export function createSweepGitLab({ gitlab, clock, tally, memory }: AskingDeps): SweepGitLab {
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
    if (!mayAsk()) return UNASKED;
    callsLeft -= 1;
    tally.calls += 1;
    try {
      const value = await call();
      failures = 0;
      return { kind: 'said', value };
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
    job: (projectId, jobId) => ask(() => gitlab.job(projectId, jobId)),
    listJobs: async (list, options) => {
      if (list.startsWith('projects/')) projectPages += 1;
      if (list.startsWith('projects/') && projectPages > PROJECT_PAGES_MAX) {
        tally.cutShort = true;
        return UNASKED;
      }
      const answer = await ask(() => gitlab.listJobs(list, options));
      // Unreadable jobs are missing in a list; their holders ask individually.
      if (answer.kind === 'said') tally.errors.gitlab_unreadable += answer.value.unreadable ?? 0;
      return answer;
    },
    runners: (page) => ask(() => gitlab.runners(page === undefined ? {} : { page })),
    mayAsk,
    allow: (newUntilMs, callsMax) => {
      untilMs = newUntilMs;
      callsLeft = callsMax;
    },
  };
}
