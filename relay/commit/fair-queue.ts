import type { BatchJob } from './batch-job.ts';
import { Chain, type Link } from './chain.ts';

/** Most jobs that wait in one relay: at 2 KB each about 20 MB, and far more than could be decided in time. */
export const QUEUED_MAX = 10_000;

interface ProjectLine {
  readonly root: string;
  readonly project: string;
  readonly jobs: Chain<BatchJob>;
}

/**
 * The jobs that wait, in one line per project. A root's batch takes from its projects in turn, so a project with a
 * thousand jobs delays its neighbour by one job, not by a thousand. All roots share one bound.
 */
export class FairQueue {
  readonly #roots = new Map<string, Map<string, ProjectLine>>();
  readonly #places = new Map<BatchJob, { readonly line: ProjectLine; readonly link: Link<BatchJob> }>();
  /** Lines by length, so that the longest is found without looking at all of them. */
  readonly #byLength = new Map<number, Set<ProjectLine>>();
  readonly #capacity: number;
  #longest = 0;

  constructor(capacity: number = QUEUED_MAX) {
    this.#capacity = capacity;
  }

  get size(): number {
    return this.#places.size;
  }

  /** Whether any job of this root waits. */
  has(root: string): boolean {
    return this.#roots.has(root);
  }

  /**
   * Adds a job. Beyond the bound, the newest job of the longest line leaves in its stead and is returned: whoever
   * floods pays first, and the jobs that waited longest keep their place. It may be the job just added.
   */
  push(job: BatchJob): BatchJob | undefined {
    const line = this.#lineOf(job);
    const link = line.jobs.push(job);
    this.#places.set(job, { line, link });
    this.#resized(line, line.jobs.length - 1);
    if (this.size <= this.#capacity) return undefined;
    const evicted = this.#newestOfLongest();
    if (evicted !== undefined) this.remove(evicted);
    return evicted;
  }

  /** Whether this job waits here. */
  waits(job: BatchJob): boolean {
    return this.#places.has(job);
  }

  /** The job whose turn it is. */
  first(root: string): BatchJob | undefined {
    return this.#firstLine(root)?.jobs.first;
  }

  /** Takes that job out; its project goes to the end of the turn. */
  shift(root: string): BatchJob | undefined {
    const line = this.#firstLine(root);
    const job = line?.jobs.first;
    if (line === undefined || job === undefined) return undefined;
    const lines = this.#roots.get(root);
    lines?.delete(line.project);
    lines?.set(line.project, line);
    this.remove(job);
    return job;
  }

  /** Takes a job out wherever it stands; nothing if it does not wait here. */
  remove(job: BatchJob): void {
    const place = this.#places.get(job);
    if (place === undefined) return;
    const { line, link } = place;
    this.#places.delete(job);
    line.jobs.remove(link);
    this.#resized(line, line.jobs.length + 1);
    if (line.jobs.length > 0) return;
    const lines = this.#roots.get(line.root);
    lines?.delete(line.project);
    if (lines?.size === 0) this.#roots.delete(line.root);
  }

  #firstLine(root: string): ProjectLine | undefined {
    return this.#roots.get(root)?.values().next().value;
  }

  #lineOf({ root, project }: BatchJob): ProjectLine {
    const lines = this.#roots.get(root) ?? new Map<string, ProjectLine>();
    const line = lines.get(project) ?? { root, project, jobs: new Chain() };
    this.#roots.set(root, lines.set(project, line));
    return line;
  }

  #resized(line: ProjectLine, before: number): void {
    const now = line.jobs.length;
    const left = this.#byLength.get(before);
    left?.delete(line);
    if (left?.size === 0) this.#byLength.delete(before);
    if (now > 0) {
      const joined = this.#byLength.get(now);
      if (joined === undefined) this.#byLength.set(now, new Set([line]));
      else joined.add(line);
    }
    // Lengths change by one, so the maximum does too.
    if (now > this.#longest) this.#longest = now;
    else if (before === this.#longest && !this.#byLength.has(before)) this.#longest = now;
  }

  #newestOfLongest(): BatchJob | undefined {
    return this.#byLength.get(this.#longest)?.values().next().value?.jobs.last;
  }
}
