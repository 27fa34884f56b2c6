import { BATCH_BYTES_MAX, REQUESTS_MAX } from '../../functions/core/contract/index.ts';
import { type BatchJob, latestDeadlineMs } from './batch-job.ts';

/** Most jobs that wait in one relay: at 2 KB each about 20 MB, and far more than could be decided in time. */
const QUEUED_MAX = 10_000;

/**
 * While more roots have jobs than a batch takes, each root's turn is longer, up to so many jobs: they have their counters in common,
 * so that a transaction of a hundred items carries more of them. At eight, three counters go with eight records instead of with each.
 */
const TURN_JOBS_MAX = 8;

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
  readonly #waiting = new Map<string, number>();
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

  /** How many jobs of this root wait. */
  waiting(root: string): number {
    return this.#waiting.get(root) ?? 0;
  }

  /**
   * Adds a job. Beyond the bound, the newest job of the longest line leaves in its stead and is returned: whoever
   * floods pays first, and the jobs that waited longest keep their place. It may be the job just added.
   */
  push(job: BatchJob): BatchJob | undefined {
    const line = this.#lineOf(job);
    const link = line.jobs.push(job);
    this.#places.set(job, { line, link });
    this.#waiting.set(job.root, this.waiting(job.root) + 1);
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
    this.#waiting.set(line.root, this.waiting(line.root) - 1);
    line.jobs.remove(link);
    this.#resized(line, line.jobs.length + 1);
    if (line.jobs.length > 0) return;
    const lines = this.#roots.get(line.root);
    lines?.delete(line.project);
    if (lines?.size !== 0) return;
    this.#roots.delete(line.root);
    this.#waiting.delete(line.root);
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
    const isLongestGone = before === this.#longest && !this.#byLength.has(before);
    this.#longest = isLongestGone ? now : Math.max(now, this.#longest);
  }

  #newestOfLongest(): BatchJob | undefined {
    return this.#byLength.get(this.#longest)?.values().next().value?.jobs.last;
  }
}

/** A doubly linked list: first out, last out and removal from the middle, each in constant time. */
interface Link<T> {
  readonly value: T;
  before: Link<T> | undefined;
  after: Link<T> | undefined;
}

class Chain<T> {
  #first: Link<T> | undefined;
  #last: Link<T> | undefined;
  #length = 0;

  get length(): number {
    return this.#length;
  }

  get first(): T | undefined {
    return this.#first?.value;
  }

  get last(): T | undefined {
    return this.#last?.value;
  }

  push(value: T): Link<T> {
    const link: Link<T> = { value, before: this.#last, after: undefined };
    if (this.#last === undefined) this.#first = link;
    else this.#last.after = link;
    this.#last = link;
    this.#length += 1;
    return link;
  }

  /** The link must be of this chain and not removed before. */
  remove(link: Link<T>): void {
    if (link.before === undefined) this.#first = link.after;
    else link.before.after = link.after;
    if (link.after === undefined) this.#last = link.before;
    else link.after.before = link.before;
    this.#length -= 1;
  }
}

/** The function starts no transaction with less left, so sending would only cost. */
export const SEND_MS_MIN = 150;

interface TakenBatch {
  readonly jobs: readonly BatchJob[];
  /** Too late to be sent: for the fallback. */
  readonly expired: readonly BatchJob[];
}

/** How many jobs of one root go one after the other. */
function turnOf(queue: FairQueue, roots: Iterable<string>): number {
  let wanted = 0;
  // A flood counts as eight: it makes nobody's turn longer, its own least of all.
  for (const root of roots) wanted += Math.min(queue.waiting(root), TURN_JOBS_MAX);
  return Math.min(TURN_JOBS_MAX, Math.max(1, Math.ceil(wanted / REQUESTS_MAX)));
}

/**
 * Takes the next batch of these roots: what is in time, within the contract's count and bytes, a job of each root in turn, or
 * some where many wait. Roots leave the set when none of their jobs waits; who was served stands behind the others.
 */
export function takeBatch(queue: FairQueue, roots: Set<string>, nowMs: number): TakenBatch {
  const jobs: BatchJob[] = [];
  const expired: BatchJob[] = [];
  const turn = turnOf(queue, roots);
  let bytes = 0;
  let served = 0;
  const endTurn = (root: string): void => {
    served = 0;
    roots.delete(root);
    if (queue.has(root)) roots.add(root);
  };
  while (jobs.length < REQUESTS_MAX) {
    const [root] = roots;
    if (root === undefined) break;
    const next = queue.first(root);
    if (next === undefined) {
      endTurn(root);
      continue;
    }
    const inTime = latestDeadlineMs(next) - nowMs >= SEND_MS_MIN;
    // One job always fits, however large: what may not travel at all is refused before the queue.
    if (inTime && jobs.length > 0 && bytes + next.bytes > BATCH_BYTES_MAX) break;
    queue.shift(root);
    if (inTime) {
      jobs.push(next);
      bytes += next.bytes;
      served += 1;
    } else {
      expired.push(next);
    }
    if (served === turn || jobs.length === REQUESTS_MAX) endTurn(root);
  }
  return { jobs, expired };
}
