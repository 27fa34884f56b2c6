/** GitLab's REST API over its truth, three jobs a page, in whatever mood it is. */
import {
  type GitLab,
  GitLabError,
  type JobList,
  type JobsPage,
  type JobTruth,
} from '../../functions/core/gitlab/gitlab.ts';
import { RUNNERS } from './places.ts';
import type { TrueJob, Truth } from './truth.ts';

const PAGE_JOBS = 3;
const RETRY_AFTER_MS = 60_000;

/** @param step - awaited before GitLab looks and before its answer arrives. */
export function restOf(truth: Truth, step: () => Promise<void>): GitLab {
  const answer = async <T>(look: () => T, mayBeSecret: boolean): Promise<T> => {
    await step();
    const error = errorOf(truth, mayBeSecret);
    if (error !== undefined) throw error;
    const found = look();
    await step();
    return found;
  };
  return {
    job: (_projectId, jobId) => answer(() => jobOf(jobId, truth), false),
    listJobs: (list, options) => answer(() => pageOf(list, options, truth), list.startsWith('runners/')),
    runners: () => answer(() => ({ runnerIds: [...RUNNERS] }), true),
  };
}

function errorOf({ mood, tokenSees }: Truth, mayBeSecret: boolean): GitLabError | undefined {
  switch (mood) {
    case 'answers':
      return tokenSees || !mayBeSecret ? undefined : new GitLabError('gitlab_refused', '403');
    case 'away':
      return new GitLabError('gitlab_unavailable', '502');
    case 'rate-limited':
      return new GitLabError('gitlab_rate_limited', '429', { retryAfterMs: RETRY_AFTER_MS });
    case 'token-expired':
      return new GitLabError('gitlab_refused', '401');
  }
}

function jobOf(jobId: number, truth: Truth): JobTruth | undefined {
  const job = truth.byId(jobId);
  return job.removed || !truth.tokenSees ? undefined : truth.says(job);
}

function pageOf(
  list: JobList,
  { status, page }: { readonly status?: 'running'; readonly page?: string },
  truth: Truth,
): JobsPage {
  const below = page === undefined ? Number.POSITIVE_INFINITY : Number(page);
  const matching = truth.jobs
    .filter((job) => truth.tokenSees && isOn(list, job) && !job.removed)
    .filter((job) => (status === undefined || job.status === status) && job.jobId < below)
    .sort((a, b) => b.jobId - a.jobId);
  const jobs = matching.slice(0, PAGE_JOBS).map((job) => truth.says(job));
  return matching.length > PAGE_JOBS ? { jobs, next: String(jobs.at(-1)?.jobId) } : { jobs };
}

function isOn(list: JobList, { startedAtMs, runnerId, projectId }: TrueJob): boolean {
  return list === `projects/${projectId}` || (startedAtMs !== undefined && list === `runners/${runnerId}`);
}
