/** Looks up many jobs with few REST calls: in lists of runners and projects, a hundred jobs a page, then one by one. */
import { atOnce } from '../core/environment/environment.ts';
import type { GitLabJob, JobList } from '../core/gitlab/gitlab.ts';
import { type LiveHold, toLiveHold } from '../core/job-ends/actions.ts';
import { readInParts } from '../core/store/parts.ts';
import type { GitLabAnswer, SweepGitLab, SweepRun } from './run.ts';

export interface AskableJob {
  readonly jobId: number;
  readonly projectId?: number;
  readonly runnerId?: number;
}

export type FoundHandler<Job> = (
  job: Job,
  answer: Exclude<GitLabAnswer<GitLabJob | undefined>, { kind: 'unsent' }>,
) => Promise<void>;

/** A list of running jobs this long belongs to no one runner; what is beyond it is looked for in other ways. */
const RUNNING_PAGES_MAX = 20;
/** Among the wanted jobs a page must show two, or asking for them one by one is as cheap; one bad page may be chance. */
const POOR_PAGES_MAX = 2;

export async function listRunning(
  list: JobList,
  boundedGitLab: SweepGitLab,
  onJob: (job: GitLabJob) => void,
) {
  let page: string | undefined;
  for (let pages = 1; pages <= RUNNING_PAGES_MAX; pages += 1) {
    const answer = await boundedGitLab.listJobs(list, { status: 'running', page });
    if (answer.kind !== 'answered') return;
    for (const job of answer.value.jobs) onJob(job);
    page = answer.value.next;
    if (page === undefined) return;
  }
}

/**
 * Lists jobs of every status, newest first, while that is cheaper than asking for `wanted` one by one. Takes what it finds out of `wanted`.
 * @returns false if the run's calls ended first. The next run goes on at `pages`.
 */
async function listRecent<Job>(
  list: JobList,
  wanted: Map<number, Job>,
  boundedGitLab: SweepGitLab,
  found: FoundHandler<Job>,
  pages: Map<JobList, string>,
): Promise<boolean> {
  const pagesMax = Math.ceil(wanted.size / 2);
  const [newest, oldest] = [Math.max(...wanted.keys()), Math.min(...wanted.keys())];
  let poor = 0;
  let page = pages.get(list);
  pages.delete(list);
  for (let count = 1; count <= pagesMax && wanted.size > 0 && poor < POOR_PAGES_MAX; count += 1) {
    const answer = await boundedGitLab.listJobs(list, { page });
    if (answer.kind === 'unsent') {
      if (page !== undefined) pages.set(list, page);
      return false;
    }
    if (answer.kind === 'failed') return true;
    const before = wanted.size;
    let lowest = Number.POSITIVE_INFINITY;
    for (const gitlabJob of answer.value.jobs) {
      lowest = Math.min(lowest, gitlabJob.jobId);
      const job = wanted.get(gitlabJob.jobId);
      if (job === undefined) continue;
      wanted.delete(gitlabJob.jobId);
      await found(job, { kind: 'answered', value: gitlabJob });
    }
    // Pages of jobs newer than any wanted one are only the way there.
    if (before - wanted.size < 2 && lowest <= newest) poor += 1;
    page = answer.value.next;
    if (page === undefined || lowest <= oldest) break;
  }
  return true;
}

/** GitLab answers in about 100 ms: sixteen in parallel are at most 160 calls a second. */
export const CALLS_AT_ONCE = 16;

/** Calls `found` for every job that GitLab said something about or failed at. @returns jobs that were not asked about */
export async function lookUp<Job extends AskableJob>(
  jobs: readonly Job[],
  boundedGitLab: SweepGitLab,
  found: FoundHandler<Job>,
  pages = new Map<JobList, string>(),
): Promise<readonly Job[]> {
  const left = new Map(jobs.map((job) => [job.jobId, job]));
  const nextRuns = new Set<Job>();
  const taken: FoundHandler<Job> = async (job, answer) => {
    left.delete(job.jobId);
    await found(job, answer);
  };
  await atOnce([...byLongestList(jobs)], CALLS_AT_ONCE, async ([list, wanted]) => {
    if (wanted.size < 2 || (await listRecent(list, wanted, boundedGitLab, taken, pages))) return;
    for (const job of wanted.values()) nextRuns.add(job);
  });
  const single = [...left.values()].filter((job) => !nextRuns.has(job));
  await atOnce(single, CALLS_AT_ONCE, async (job) => {
    if (job.projectId === undefined) return;
    const answer = await boundedGitLab.job(job.projectId, job.jobId);
    if (answer.kind !== 'unsent') await taken(job, answer);
  });
  return [...left.values()];
}

/** Each job under the list that has more of the jobs, its runner's or its project's: most jobs a page. */
function byLongestList<Job extends AskableJob>(jobs: readonly Job[]): Map<JobList, Map<number, Job>> {
  const counts = new Map<JobList, number>();
  const count = (list: JobList): number => counts.get(list) ?? 0;
  for (const list of jobs.flatMap(jobLists)) counts.set(list, count(list) + listWeight(list));
  const groups = new Map<JobList, Map<number, Job>>();
  for (const job of jobs) {
    const [list] = jobLists(job).sort((a, b) => count(b) - count(a));
    if (list !== undefined) groups.set(list, (groups.get(list) ?? new Map()).set(job.jobId, job));
  }
  return groups;
}

/** If both have about as many, all jobs are looked for under runners. To look under both would read twice as many lists. */
const listWeight = (list: JobList): number => (list.startsWith('runners/') ? 2 : 1);

const jobLists = ({ runnerId, projectId }: AskableJob): JobList[] => [
  ...(projectId === undefined ? [] : [`projects/${projectId}` as const]),
  ...(runnerId === undefined ? [] : [`runners/${runnerId}` as const]),
];

/** The jobs that are live by their own records, in the given order. @throws {LedgerError} `ledger_unavailable` */
export async function readLiveHolds(
  jobIds: readonly number[],
  { ledger, memory }: Pick<SweepRun, 'ledger' | 'memory'>,
): Promise<readonly LiveHold[]> {
  const holds = await readInParts(jobIds, async (some) => (await ledger.readRecords(some)).map(toLiveHold));
  return holds.flatMap((hold) => {
    if (hold === undefined) return [];
    const runnerId = hold.runnerId ?? memory.runnerOf.get(hold.jobId);
    return runnerId === undefined ? hold : { ...hold, runnerId };
  });
}
