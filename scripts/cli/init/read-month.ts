import type { GitLab } from '../../../functions/core/gitlab/rest-gitlab.ts';
import { finishedJobs } from '../../../functions/core/gitlab/runners.ts';
import { quantile } from '../../local/random.ts';

export interface RanJob {
  readonly runnerId: number;
  readonly projectId: number;
  readonly path: string;
  readonly startMs: number;
  readonly endMs: number;
}

export type RanMonth = Awaited<ReturnType<typeof readMonth>>;

/** 20 000 jobs of one runner are enough to draft limits from. */
const PAGES_PER_RUNNER_MAX = 200;
const JOBS_MAX = 1_000_000;

/** `cutRunners` ran more jobs than are read: their older ones are missing. @throws {GitLabError} */
export async function readMonth(
  gitlab: Pick<GitLab, 'listJobs'>,
  runnerIds: readonly number[],
  span: { readonly sinceMs: number; readonly untilMs: number },
  sleep: (delayMs: number) => Promise<void>,
  onJob: () => void,
) {
  // By job: with numbered pages, new jobs push others to the next page.
  const jobs = new Map<number, RanJob>();
  const cut = new Set(runnerIds);
  let unreadable = 0;
  const bounds = { ...span, pagesMax: PAGES_PER_RUNNER_MAX, sleep };
  for await (const page of finishedJobs(gitlab, runnerIds, bounds)) {
    for (const { jobId, projectId, projectPath: path = '', startedAtMs, finishedAtMs } of page.jobs) {
      const [startMs, endMs] = [startedAtMs ?? 0, finishedAtMs ?? 0];
      if (!jobs.has(jobId)) jobs.set(jobId, { runnerId: page.runnerId, projectId, path, startMs, endMs });
      onJob();
    }
    unreadable += page.unreadable;
    if (page.isLast && !page.cut) cut.delete(page.runnerId);
    if (jobs.size >= JOBS_MAX) break;
  }
  return { ...span, jobs: [...jobs.values()], unreadable, cutRunners: [...cut].sort((a, b) => a - b) };
}

export type JobsUse = ReturnType<typeof useOf>;

/** Use in the span: the most jobs at one time, and the 90th percentile of the duration. */
export function useOf(jobs: readonly RanJob[]) {
  const lengths = jobs.map(({ startMs, endMs }) => Math.max(0, endMs - startMs) / 1000).sort((a, b) => a - b);
  return {
    jobs: jobs.length,
    seconds: Math.round(lengths.reduce((sum, each) => sum + each, 0)),
    peakJobs: peakOf(jobs),
    usualSeconds: jobs.length === 0 ? 0 : Math.ceil(quantile(lengths, 0.9)),
  };
}

/** The use of each group at one level of the tree: 1 is the top-level groups. A group's use has that of all below it. */
export function useByGroup(jobs: readonly RanJob[], level: number): ReadonlyMap<string, JobsUse> {
  const deep = jobs.filter(({ path }) => path.split('/').length > level);
  const byPath = Map.groupBy(deep, ({ path }) => path.split('/').slice(0, level).join('/'));
  return new Map([...byPath].map(([path, own]) => [path, useOf(own)]));
}

/** A job that ends when another starts does not overlap it. */
function peakOf(jobs: readonly RanJob[]): number {
  const events = jobs
    .filter(({ startMs, endMs }) => endMs > startMs)
    .flatMap(({ startMs, endMs }) => [[startMs, 1] as const, [endMs, -1] as const])
    .sort(([a, by], [b, other]) => a - b || by - other);
  let [running, peak] = [0, 0];
  for (const [, by] of events) {
    running += by;
    peak = Math.max(peak, running);
  }
  return peak;
}
