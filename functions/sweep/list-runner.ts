/** Many jobs of one runner at one call a hundred: found in its list rather than asked about one by one. */
import type { JobTruth } from '../core/gitlab/index.ts';
import type { GitLabAnswer, SweepGitLab } from './asking.ts';

/** What GitLab is asked about. */
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
 * Takes what it finds out of `wanted`.
 * @param onOther - hears of running jobs that nobody wanted.
 * @returns how many were found.
 */
export async function listRunning<Job>(
  runnerId: number,
  wanted: Map<number, Job>,
  asking: SweepGitLab,
  found: FoundHandler<Job>,
  onOther: (truth: JobTruth) => void = () => {},
): Promise<number> {
  let count = 0;
  let page: string | undefined;
  for (let pages = 1; pages <= RUNNING_PAGES_MAX; pages += 1) {
    const answer = await asking.jobsOfRunner(runnerId, {
      status: 'running',
      ...(page !== undefined && { page }),
    });
    if (answer.kind !== 'said') return count;
    for (const truth of answer.value.jobs) {
      const hold = wanted.get(truth.jobId);
      if (hold === undefined) onOther(truth);
      else {
        wanted.delete(truth.jobId);
        count += 1;
        await found(hold, { kind: 'said', value: truth });
      }
    }
    page = answer.value.next;
    if (page === undefined) return count;
  }
  return count;
}

/**
 * The runner's jobs of every status, newest first, while that is cheaper than asking for `wanted` one by one: at most
 * half as many pages as jobs are wanted. Takes what it finds out of `wanted`.
 *
 * @returns how many were found.
 */
export async function listRecent<Job>(
  runnerId: number,
  wanted: Map<number, Job>,
  asking: SweepGitLab,
  found: FoundHandler<Job>,
): Promise<number> {
  const pagesMax = Math.ceil(wanted.size / 2);
  const { newest, oldest } = spanOf(wanted.keys());
  let count = 0;
  let poor = 0;
  let page: string | undefined;
  for (let pages = 1; pages <= pagesMax && wanted.size > 0; pages += 1) {
    const answer = await asking.jobsOfRunner(runnerId, page === undefined ? {} : { page });
    if (answer.kind !== 'said') return count;
    let here = 0;
    let lowest = Number.POSITIVE_INFINITY;
    for (const truth of answer.value.jobs) {
      lowest = Math.min(lowest, truth.jobId);
      const hold = wanted.get(truth.jobId);
      if (hold === undefined) continue;
      wanted.delete(truth.jobId);
      here += 1;
      await found(hold, { kind: 'said', value: truth });
    }
    count += here;
    // Pages of jobs newer than any wanted one are only the way there.
    if (here < 2 && lowest <= newest) poor += 1;
    page = answer.value.next;
    if (page === undefined || lowest <= oldest || poor >= POOR_PAGES_MAX) return count;
  }
  return count;
}

function spanOf(jobIds: Iterable<number>): { readonly newest: number; readonly oldest: number } {
  let newest = 0;
  let oldest = Number.POSITIVE_INFINITY;
  for (const jobId of jobIds) {
    newest = Math.max(newest, jobId);
    oldest = Math.min(oldest, jobId);
  }
  return { newest, oldest };
}
