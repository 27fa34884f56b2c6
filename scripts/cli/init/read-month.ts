import { closeSync, openSync, truncateSync, writeSync } from 'node:fs';
import { z } from 'zod';
import type { GitLab } from '../../../functions/core/gitlab/rest-gitlab.ts';
import { finishedJobs, type JobsMark } from '../../../functions/core/gitlab/runners.ts';
import { quantile } from '../../local/random.ts';
import { UsageError } from '../../terminal/command.ts';
import { readUserFileIfThere } from '../../terminal/user-file.ts';

/** A job that ran in the span. */
export interface RanJob {
  readonly runnerId: number;
  readonly projectId: number;
  /** Full path of the project; empty if unknown. */
  readonly path: string;
  readonly startMs: number;
  readonly endMs: number;
}

export interface RanMonth {
  readonly sinceMs: number;
  readonly untilMs: number;
  readonly jobs: readonly RanJob[];
  readonly unreadable: number;
  /** These runners ran more jobs than are read: their older ones are missing. */
  readonly cutRunners: readonly number[];
}

interface MonthOptions {
  readonly sinceMs: number;
  readonly untilMs: number;
  /** Which GitLab it is: what was kept of another one is no use. */
  readonly instance: string;
  /** File for received pages; absent: none. */
  readonly resumeFile?: string;
  readonly sleep: (delayMs: number) => Promise<void>;
  readonly onJob: () => void;
}

/** 20 000 jobs of one runner are enough to draft limits from. */
const PAGES_PER_RUNNER_MAX = 200;
/** A hundred bytes each. */
const JOBS_MAX = 1_000_000;
const KEPT_BYTES_MAX = 256 * 1024 * 1024;

const KeptHead = z.object({ instance: z.string(), sinceMs: z.int(), untilMs: z.int() });
const KeptPage = z.object({
  runner: z.int().positive(),
  next: z.string().optional(),
  cut: z.boolean(),
  unreadable: z.int(),
  /** Job, project, its path, start and end. */
  jobs: z.array(z.tuple([z.int(), z.int(), z.string(), z.int(), z.int()])),
});
type KeptPageLine = z.infer<typeof KeptPage>;

/**
 * Reads all runs of these runners in the span.
 *
 * @throws {GitLabError} if GitLab does not answer; received pages are kept.
 * @throws {UsageError} if the file has other content.
 */
export async function readMonth(
  gitlab: Pick<GitLab, 'listJobs'>,
  runnerIds: readonly number[],
  options: MonthOptions,
): Promise<RanMonth> {
  const kept = openKept(options);
  const { sinceMs, untilMs } = kept;
  // By job: with numbered pages, new jobs push others to the next page.
  const jobs = new Map<number, RanJob>();
  const cut = new Set<number>();
  let unreadable = 0;
  const marks = new Map<number, JobsMark>();
  const take = (page: KeptPageLine): void => {
    for (const [jobId, projectId, path, startMs, endMs] of page.jobs)
      jobs.set(jobId, jobs.get(jobId) ?? { runnerId: page.runner, projectId, path, startMs, endMs });
    unreadable += page.unreadable;
    if (page.cut) cut.add(page.runner);
    const before = marks.get(page.runner);
    const pages = (before === undefined || before === 'done' ? 0 : before.pages) + 1;
    marks.set(page.runner, page.next === undefined ? 'done' : { page: page.next, pages });
  };
  try {
    for (const page of kept.pages) take(page);
    const bounds = { sinceMs, untilMs, pagesMax: PAGES_PER_RUNNER_MAX, sleep: options.sleep };
    for await (const page of finishedJobs(gitlab, runnerIds, { ...bounds, marks: new Map(marks) })) {
      const { runnerId, jobs: found, ...more } = page;
      const line: KeptPageLine = {
        ...more,
        runner: runnerId,
        jobs: found.map(({ jobId, projectId, projectPath = '', startedAtMs = 0, finishedAtMs = 0 }) => [
          ...([jobId, projectId, projectPath, startedAtMs, finishedAtMs] as const),
        ]),
      };
      kept.append(line);
      take(line);
      for (const _ of found) options.onJob();
      if (jobs.size >= JOBS_MAX) break;
    }
    // Also those that were not asked at all.
    for (const id of runnerIds) if (marks.get(id) !== 'done') cut.add(id);
    const cutRunners = [...cut].sort((a, b) => a - b);
    return { sinceMs, untilMs, jobs: [...jobs.values()], unreadable, cutRunners };
  } finally {
    kept.close();
  }
}

/** One line for the span, then one per page. A line that a kill cut short is dropped, and its page asked for again. */
function openKept({ resumeFile: file, instance, sinceMs, untilMs }: MonthOptions) {
  const span = { instance, sinceMs, untilMs };
  if (file === undefined) return { ...span, pages: [], append: () => {}, close: () => {} };
  const kept = readUserFileIfThere(file, `--resume "${file}"`, KEPT_BYTES_MAX) ?? '';
  const whole = kept.slice(0, kept.lastIndexOf('\n') + 1);
  const [first, ...lines] = whole.split('\n').slice(0, -1);
  const read = <Line>(schema: z.ZodType<Line>, line: string): Line => {
    try {
      return schema.parse(JSON.parse(line));
    } catch {
      throw new UsageError(
        `--resume "${file}": was not written by tollgate init; expected another file, or none`,
      );
    }
  };
  const head = first === undefined ? span : read(KeptHead, first);
  if (head.instance !== instance)
    throw new UsageError(`--resume "${file}": holds jobs of ${head.instance}, not of ${instance}`);
  const pages = lines.map((line) => read(KeptPage, line));
  const handle = openSync(file, 'a', 0o600);
  truncateSync(file, Buffer.byteLength(whole));
  const append = (line: object): void => void writeSync(handle, `${JSON.stringify(line)}\n`);
  if (first === undefined) append(head);
  return { ...head, pages, append, close: () => closeSync(handle) };
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
