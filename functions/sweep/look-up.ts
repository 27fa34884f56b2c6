/**
 * Looks up many jobs with few REST calls: lists of runners and projects with several of them, then single
 * calls.
 */

import { atOnce } from '../core/environment/index.ts';
import type { JobList, JobTruth } from '../core/gitlab/index.ts';
import type { SweepGitLab } from './asking.ts';
import { type AskableJob, type FoundHandler, listRecent, listRunning } from './list-jobs.ts';

interface LookUpOptions {
  /** Lists running jobs before recent ones: for jobs that most likely still run. @default false */
  readonly runningFirst?: boolean;
  /** Lists whose running jobs were read already; added to. */
  readonly listed?: Set<JobList>;
  readonly onOther?: (truth: JobTruth) => void;
  /** Next pages of lists from an earlier run. @default all start at the newest job */
  readonly pages?: Map<JobList, string>;
}

/** GitLab answers in about 100 ms: sixteen in parallel are at most 160 calls a second. */
export const CALLS_AT_ONCE = 16;

/**
 * Calls `found` once for every job that GitLab said something about or failed at. The order of `jobs` is kept where
 * jobs are asked about one by one.
 *
 * @returns jobs that were not asked about: out of time or calls, or their project is unknown.
 */
export async function lookUp<Job extends AskableJob>(
  jobs: readonly Job[],
  asking: SweepGitLab,
  found: FoundHandler<Job>,
  { runningFirst = false, listed = new Set(), onOther, pages = new Map() }: LookUpOptions = {},
): Promise<readonly Job[]> {
  const left = new Map(jobs.map((job) => [job.jobId, job]));
  const nextRuns = new Set<Job>();
  const taken: FoundHandler<Job> = async (job, answer) => {
    left.delete(job.jobId);
    await found(job, answer);
  };
  await atOnce([...byLongestList(jobs)], CALLS_AT_ONCE, async ([list, wanted]) => {
    if (wanted.size > 1 && runningFirst && !listed.has(list)) {
      listed.add(list);
      await listRunning(list, wanted, asking, taken, onOther);
    }
    if (wanted.size < 2 || (await listRecent(list, wanted, asking, taken, pages))) return;
    for (const job of wanted.values()) nextRuns.add(job);
  });
  const single = [...left.values()].filter((job) => !nextRuns.has(job));
  await atOnce(single, CALLS_AT_ONCE, async (job) => {
    if (job.projectId === undefined) return;
    const answer = await asking.job(job.projectId, job.jobId);
    if (answer.kind !== 'unasked') await taken(job, answer);
  });
  return [...left.values()];
}

/** Each job under the list that has more of the jobs, its runner's or its project's: most jobs a page. */
function byLongestList<Job extends AskableJob>(jobs: readonly Job[]): Map<JobList, Map<number, Job>> {
  const counts = new Map<JobList, number>();
  const countOf = (list: JobList): number => counts.get(list) ?? 0;
  for (const list of jobs.flatMap(listsOf)) counts.set(list, countOf(list) + weightOf(list));
  const groups = new Map<JobList, Map<number, Job>>();
  for (const job of jobs) {
    const [list] = listsOf(job).sort((a, b) => countOf(b) - countOf(a));
    if (list !== undefined) groups.set(list, (groups.get(list) ?? new Map()).set(job.jobId, job));
  }
  return groups;
}

/** If both have about as many, all jobs are looked for under runners. To look under both would read twice as many lists. */
const weightOf = (list: JobList): number => (list.startsWith('runners/') ? 2 : 1);

const listsOf = ({ runnerId, projectId }: AskableJob): JobList[] => [
  ...(projectId === undefined ? [] : [`projects/${projectId}` as const]),
  ...(runnerId === undefined ? [] : [`runners/${runnerId}` as const]),
];
