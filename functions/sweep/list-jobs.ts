/** Many jobs at one call a hundred: found in the list of a runner or project rather than asked about one by one. */
import type { JobList, JobTruth } from '../core/gitlab/index.ts';
import type { GitLabAnswer, SweepGitLab } from './asking.ts';

/** A job to look up in GitLab. */
export interface AskableJob {
  readonly jobId: number;
  readonly projectId?: number;
  readonly runnerId?: number;
}

export type FoundHandler<Job> = (
  job: Job,
  answer: Exclude<GitLabAnswer<JobTruth | undefined>, { kind: 'unasked' }>,
) => Promise<void>;

/** A list of running jobs this long belongs to no one runner; what is beyond it is looked for in other ways. */
const RUNNING_PAGES_MAX = 20;
/** Among the wanted jobs a page must show two, or asking for them one by one is as cheap; one bad page may be chance. */
const POOR_PAGES_MAX = 2;

/**
 * Lists running jobs and removes found ones from `wanted`.
 *
 * @param onOther - receives other running jobs.
 */
export async function listRunning<Job>(
  list: JobList,
  wanted: Map<number, Job>,
  asking: SweepGitLab,
  found: FoundHandler<Job>,
  onOther: (truth: JobTruth) => void = () => {},
): Promise<void> {
  let page: string | undefined;
  for (let pages = 1; pages <= RUNNING_PAGES_MAX; pages += 1) {
    const answer = await asking.listJobs(list, { status: 'running', ...(page !== undefined && { page }) });
    if (answer.kind !== 'said') return;
    for (const truth of answer.value.jobs) {
      const hold = wanted.get(truth.jobId);
      if (hold === undefined) onOther(truth);
      else {
        wanted.delete(truth.jobId);
        await found(hold, { kind: 'said', value: truth });
      }
    }
    page = answer.value.next;
    if (page === undefined) return;
  }
}

/**
 * Lists jobs of every status, newest first, while that is cheaper than asking for `wanted` one by one: at most half as many
 * pages as jobs are wanted. Takes what it finds out of `wanted`.
 *
 * @param pages - where a list goes on that an earlier run did not get through; kept here.
 * @returns false if the run's calls ended first. The next run goes on.
 */
export async function listRecent<Job>(
  list: JobList,
  wanted: Map<number, Job>,
  asking: SweepGitLab,
  found: FoundHandler<Job>,
  pages: Map<JobList, string>,
): Promise<boolean> {
  const pagesMax = Math.ceil(wanted.size / 2);
  const [newest, oldest] = [Math.max(...wanted.keys()), Math.min(...wanted.keys())];
  let poor = 0;
  let page = pages.get(list);
  pages.delete(list);
  for (let count = 1; count <= pagesMax && wanted.size > 0 && poor < POOR_PAGES_MAX; count += 1) {
    const answer = await asking.listJobs(list, page === undefined ? {} : { page });
    if (answer.kind === 'unasked') {
      if (page !== undefined) pages.set(list, page);
      return false;
    }
    if (answer.kind === 'failed') return true;
    const before = wanted.size;
    let lowest = Number.POSITIVE_INFINITY;
    for (const truth of answer.value.jobs) {
      lowest = Math.min(lowest, truth.jobId);
      const job = wanted.get(truth.jobId);
      if (job === undefined) continue;
      wanted.delete(truth.jobId);
      await found(job, { kind: 'said', value: truth });
    }
    // Pages of jobs newer than any wanted one are only the way there.
    if (before - wanted.size < 2 && lowest <= newest) poor += 1;
    page = answer.value.next;
    if (page === undefined || lowest <= oldest) break;
  }
  return true;
}
