import { BATCH_BYTES_MAX, REQUESTS_MAX } from '../../functions/core/contract/admissions.ts';
import type { AdmissionRequest } from '../../policies/request/request.ts';
import type { LedgerDecision } from '../exchange.ts';

export interface BatchJob {
  readonly request: AdmissionRequest;
  readonly json: string;
  readonly bytes: number;
  readonly root: string;
  readonly project: string;
  readonly waiters: Set<Waiter>;
  batch: string | undefined;
}

export interface Waiter {
  readonly deadlineMs: number;
  readonly resolve: (decision: LedgerDecision) => void;
  readonly sent?: SentListener | undefined;
}

export type SentListener = (batch: string) => void;

export function createBatchJob(request: AdmissionRequest): BatchJob {
  const json = JSON.stringify(request);
  return {
    ...{ request, json, bytes: Buffer.byteLength(json) },
    ...{ root: requestRootOf(request), project: projectOf(request) },
    ...{ waiters: new Set(), batch: undefined },
  };
}

export function latestDeadlineMs(job: BatchJob): number {
  let latest = 0;
  for (const waiter of job.waiters) latest = Math.max(latest, waiter.deadlineMs);
  return latest;
}

/** Returns the root group's id, else its path, else the project: a project never spans two roots. */
export function requestRootOf({ rootNamespaceId, projectPath, projectId }: AdmissionRequest): string {
  if (rootNamespaceId !== undefined) return String(rootNamespaceId);
  if (projectPath !== undefined) return projectPath.split('/', 1)[0]?.toLowerCase() ?? '';
  return projectId === undefined ? 'unknown' : `project/${projectId}`;
}

export function projectOf(request: AdmissionRequest): string {
  return request.projectId === undefined
    ? (request.projectPath?.toLowerCase() ?? 'unknown')
    : String(request.projectId);
}

/** Some 20 MB at 2 KB each, and far more jobs than can be decided in time. */
const QUEUED_MAX = 10_000;

/**
 * Jobs of one root in a row, while more roots have jobs than a batch takes. They share counters, so a transaction of a hundred
 * items carries more of them: with eight, three counters go with eight records instead of with each.
 */
const ROOT_JOBS_MAX = 8;

interface RootJobs {
  count: number;
  readonly projects: Map<string, Set<BatchJob>>;
}

/**
 * The jobs that wait for a batch. The projects of a root take turns, so a project with a thousand jobs delays its neighbour by one
 * job. All roots share one bound.
 */
export class FairQueue {
  readonly #roots = new Map<string, RootJobs>();
  readonly #capacity: number;
  #size = 0;

  constructor(capacity: number = QUEUED_MAX) {
    this.#capacity = capacity;
  }

  get size(): number {
    return this.#size;
  }

  /** Roots with waiting jobs, in the order of their turns. */
  roots(): Iterable<string> {
    return this.#roots.keys();
  }

  endTurn(root: string): void {
    const jobs = this.#roots.get(root);
    if (jobs !== undefined && this.#roots.delete(root)) this.#roots.set(root, jobs);
  }

  waiting(root: string): number {
    return this.#roots.get(root)?.count ?? 0;
  }

  waits(job: BatchJob): boolean {
    return this.#roots.get(job.root)?.projects.get(job.project)?.has(job) === true;
  }

  /**
   * Adds a job. Beyond the bound, the newest job of the project with the most jobs is removed and returned: a project that floods
   * the queue loses first, and the oldest jobs stay. It may be the added job.
   */
  push(job: BatchJob): BatchJob | undefined {
    const root = this.#roots.get(job.root) ?? { count: 0, projects: new Map<string, Set<BatchJob>>() };
    const jobs = root.projects.get(job.project) ?? new Set();
    root.count += 1;
    this.#size += 1;
    this.#roots.set(job.root, root);
    root.projects.set(job.project, jobs.add(job));
    if (this.#size <= this.#capacity) return undefined;
    const evicted = this.#newestOfLongest();
    if (evicted !== undefined) this.remove(evicted);
    return evicted;
  }

  first(root: string): BatchJob | undefined {
    const [jobs] = this.#roots.get(root)?.projects.values() ?? [];
    return jobs?.values().next().value;
  }

  /** Removes and returns the next job. Its project's next turn comes after the others'. */
  shift(root: string): BatchJob | undefined {
    const job = this.first(root);
    if (job === undefined) return undefined;
    this.remove(job);
    const projects = this.#roots.get(root)?.projects;
    const jobs = projects?.get(job.project);
    if (projects === undefined || jobs === undefined) return job;
    projects.delete(job.project);
    projects.set(job.project, jobs);
    return job;
  }

  remove(job: BatchJob): void {
    const root = this.#roots.get(job.root);
    const jobs = root?.projects.get(job.project);
    if (root === undefined || jobs?.delete(job) !== true) return;
    this.#size -= 1;
    root.count -= 1;
    if (jobs.size === 0) root.projects.delete(job.project);
    if (root.count === 0) this.#roots.delete(job.root);
  }

  #newestOfLongest(): BatchJob | undefined {
    let longest: ReadonlySet<BatchJob> = new Set();
    for (const { projects } of this.#roots.values())
      for (const jobs of projects.values()) if (jobs.size > longest.size) longest = jobs;
    return [...longest].at(-1);
  }
}

/** The function starts no transaction with less time left. */
export const SEND_MS_MIN = 150;

interface TakenBatch {
  readonly jobs: readonly BatchJob[];
  readonly expired: readonly BatchJob[];
}

/** Returns how many jobs of one root are taken in a row. A flood of one root counts as eight, so it makes no turn longer. */
function rowLength(queue: FairQueue, roots: Iterable<string>, jobsMax: number): number {
  let wanted = 0;
  for (const root of roots) wanted += Math.min(queue.waiting(root), ROOT_JOBS_MAX);
  return Math.min(ROOT_JOBS_MAX, Math.max(1, Math.ceil(wanted / jobsMax)));
}

/** Takes the next batch of these roots, in turns and within the contract's bounds of jobs and bytes. */
export function takeBatch(
  queue: FairQueue,
  roots: Iterable<string>,
  nowMs: number,
  jobsMax = REQUESTS_MAX,
): TakenBatch {
  const jobs: BatchJob[] = [];
  const expired: BatchJob[] = [];
  const turns = new Set(roots);
  const row = rowLength(queue, turns, jobsMax);
  let bytes = 0;
  for (const root of turns) {
    // A root with more jobs is added again below, and a set's iteration reaches what is added to it.
    turns.delete(root);
    for (let served = 0; served < row && jobs.length < jobsMax; ) {
      const next = queue.first(root);
      if (next === undefined) break;
      const inTime = latestDeadlineMs(next) - nowMs >= SEND_MS_MIN;
      // One job always fits. A job that is too large for any batch is refused before the queue.
      if (inTime && jobs.length > 0 && bytes + next.bytes > BATCH_BYTES_MAX) return { jobs, expired };
      queue.shift(root);
      if (inTime) {
        jobs.push(next);
        bytes += next.bytes;
        served += 1;
      } else {
        expired.push(next);
      }
    }
    queue.endTurn(root);
    if (jobs.length >= jobsMax) break;
    if (queue.waiting(root) > 0) turns.add(root);
  }
  return { jobs, expired };
}
