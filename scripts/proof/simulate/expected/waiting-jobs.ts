/**
 * The jobs that one relay keeps waiting. First come first served within a root group: of it nobody is passed more than eight times.
 * Everybody has an answer within what the router bears, and nobody is kept waiting beside room.
 */

export interface ExpectedWaiter {
  readonly jobId: number;
  readonly rootId: number;
  /** When it was asked about, and when it was told to wait. */
  readonly askedAtMs: number;
  readonly sinceMs: number;
  /** It must not be given up before. */
  untilMs: number;
  /** The counters that have no room for it. */
  counters: readonly string[];
  passed: number;
  /** Since when nothing refuses it any more. */
  fitsSinceMs?: number | undefined;
}

const PASSES_MAX = 8;
/** A last question takes its time, too. */
const LAST_QUESTION_MS = 1_000;
/** Lines are looked at every two seconds at least, and a call takes its time. */
const BESIDE_ROOM_MS = 4_000;

export class WaitingJobs {
  readonly #patienceMs: number;
  /** In the order in which they came. */
  readonly #jobs = new Map<number, ExpectedWaiter>();

  /** @param patienceMs - from question to answer, at most. */
  constructor(patienceMs: number) {
    this.#patienceMs = patienceMs;
  }

  get all(): Iterable<ExpectedWaiter> {
    return this.#jobs.values();
  }

  get size(): number {
    return this.#jobs.size;
  }

  get(jobId: number): ExpectedWaiter | undefined {
    return this.#jobs.get(jobId);
  }

  /** All that somebody waits for. */
  get awaited(): ReadonlySet<string> {
    return new Set([...this.#jobs.values()].flatMap(({ counters }) => counters));
  }

  /** Told to wait, for the first time or again. @param leftMs - for how long, at most. */
  waits(
    { jobId, rootId, askedAtMs }: Pick<ExpectedWaiter, 'jobId' | 'rootId' | 'askedAtMs'>,
    counters: readonly string[],
    leftMs: number,
    nowMs: number,
  ): void {
    const known = this.#jobs.get(jobId);
    const job = known ?? {
      ...{ jobId, rootId, askedAtMs, sinceMs: nowMs, counters, passed: 0 },
      untilMs: askedAtMs + this.#patienceMs - LAST_QUESTION_MS,
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

  /** A job was let go on. @returns whoever was passed by that once too often. */
  wentOn(jobId: number, rootId: number, counters: readonly string[]): ExpectedWaiter | undefined {
    let wronged: ExpectedWaiter | undefined;
    for (const other of this.#jobs.values()) {
      // Those behind it came later.
      if (other.jobId === jobId) break;
      if (other.rootId !== rootId || !other.counters.some((name) => counters.includes(name))) continue;
      other.passed += 1;
      if (other.passed > PASSES_MAX) wronged = other;
    }
    return wronged;
  }

  /** @returns whoever is first for all it waits for, and waits though it would fit. */
  besideRoom(fits: (job: ExpectedWaiter) => boolean, nowMs: number): ExpectedWaiter | undefined {
    const spokenFor = new Set<string>();
    for (const job of this.#jobs.values()) {
      const isFirst = !job.counters.some((name) => spokenFor.has(name));
      for (const name of job.counters) spokenFor.add(name);
      job.fitsSinceMs = isFirst && fits(job) ? (job.fitsSinceMs ?? nowMs) : undefined;
      if (job.fitsSinceMs !== undefined && nowMs - job.fitsSinceMs > BESIDE_ROOM_MS) return job;
    }
    return undefined;
  }
}
