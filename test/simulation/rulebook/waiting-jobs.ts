/**
 * The jobs that wait at one relay: first come first served within a root group, at most eight later jobs before an earlier
 * one, an answer within the router's timeout, and no waiting while there is room.
 */
export interface ExpectedWaiter {
  readonly jobId: number;
  readonly rootId: number;
  readonly askedAtMs: number;
  readonly sinceMs: number;
  untilMs: number;
  counters: readonly string[];
  passed: number;
  fitsSinceMs?: number | undefined;
}

const PASSES_MAX = 8;
const LAST_REQUEST_MS = 1_000;
/** The relay pauses for a second between requests about a wait queue, and a call takes two at most. */
const IDLE_ROOM_MS = 3_000;

export class WaitingJobs {
  readonly #timeoutMs: number;
  readonly #jobs = new Map<number, ExpectedWaiter>();

  constructor(timeoutMs: number) {
    this.#timeoutMs = timeoutMs;
  }

  get all(): readonly ExpectedWaiter[] {
    return [...this.#jobs.values()];
  }

  get(jobId: number): ExpectedWaiter | undefined {
    return this.#jobs.get(jobId);
  }

  get awaited(): ReadonlySet<string> {
    return new Set(this.all.flatMap(({ counters }) => counters));
  }

  waits(
    { jobId, rootId, askedAtMs }: Pick<ExpectedWaiter, 'jobId' | 'rootId' | 'askedAtMs'>,
    counters: readonly string[],
    leftMs: number,
    nowMs: number,
  ): void {
    const job = this.#jobs.get(jobId) ?? {
      ...{ jobId, rootId, askedAtMs, sinceMs: nowMs, counters, passed: 0 },
      untilMs: askedAtMs + this.#timeoutMs - LAST_REQUEST_MS,
    };
    this.#jobs.set(jobId, job);
    job.counters = counters;
    job.untilMs = Math.min(job.untilMs, nowMs + leftMs);
  }

  left(jobId: number): void {
    this.#jobs.delete(jobId);
  }

  clear(): void {
    this.#jobs.clear();
  }

  /** A job was admitted. @returns an earlier job that was thereby passed too often */
  admitted(jobId: number, rootId: number, counters: readonly string[]): ExpectedWaiter | undefined {
    let wronged: ExpectedWaiter | undefined;
    for (const other of this.#jobs.values()) {
      if (other.jobId === jobId) break;
      if (other.rootId !== rootId || !other.counters.some((name) => counters.includes(name))) continue;
      other.passed += 1;
      if (other.passed > PASSES_MAX) wronged = other;
    }
    return wronged;
  }

  besideRoom(fits: (job: ExpectedWaiter) => boolean, nowMs: number): ExpectedWaiter | undefined {
    const awaited = new Set<string>();
    for (const job of this.#jobs.values()) {
      const isFirst = !job.counters.some((name) => awaited.has(name));
      for (const name of job.counters) awaited.add(name);
      job.fitsSinceMs = isFirst && fits(job) ? (job.fitsSinceMs ?? nowMs) : undefined;
      if (job.fitsSinceMs !== undefined && nowMs - job.fitsSinceMs > IDLE_ROOM_MS) return job;
    }
    return undefined;
  }
}
