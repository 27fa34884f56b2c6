import type { JobEnd, Ledger } from '../../functions/ledger/ledger.ts';

/** A minute of a job's life takes this long in a replay, so that holds turn into spend while one watches. */
const REPLAYED_MINUTE_MS = 100;

/** Ends are settled together, as they are behind GitLab's webhooks. */
const SETTLE_EVERY_MS = 100;

/** What the local runners pretend: jobs take between these shares of their estimate. */
const DURATION_SHARE = { min: 0.3, max: 1.1 };

/**
 * Plays the runners: an admitted job runs for a while and ends, and its hold is settled to what it took.
 * Without it a replay would only ever hold.
 */
export class JobLives {
  readonly #ledger: Ledger;
  readonly #random: () => number;
  readonly #running = new Map<number, JobEnd>();
  #ended: JobEnd[] = [];
  #settling: Promise<unknown> = Promise.resolve();
  readonly #flushTimer: NodeJS.Timeout;

  constructor(ledger: Ledger, random: () => number) {
    this.#ledger = ledger;
    this.#random = random;
    this.#flushTimer = setInterval(() => this.#flush(), SETTLE_EVERY_MS);
  }

  /** A job was admitted and starts now. */
  start(jobId: number, estimateSeconds: number): void {
    const share = DURATION_SHARE.min + this.#random() * (DURATION_SHARE.max - DURATION_SHARE.min);
    const durationSeconds = Math.round(estimateSeconds * share);
    const replayedMs = (durationSeconds / 60) * REPLAYED_MINUTE_MS;
    this.#running.set(jobId, { jobId, durationSeconds, endedAtMs: Date.now() + replayedMs });
    setTimeout(() => this.#end(jobId), replayedMs).unref();
  }

  get running(): number {
    return this.#running.size;
  }

  /** Ends what still runs and settles everything. */
  async close(): Promise<void> {
    clearInterval(this.#flushTimer);
    for (const jobId of [...this.#running.keys()]) this.#end(jobId);
    this.#flush();
    await this.#settling;
  }

  #end(jobId: number): void {
    const end = this.#running.get(jobId);
    if (end === undefined) return;
    this.#running.delete(jobId);
    this.#ended.push(end);
  }

  #flush(): void {
    if (this.#ended.length === 0) return;
    const ends = this.#ended;
    this.#ended = [];
    this.#settling = this.#settling.then(() => this.#ledger.settle(ends));
  }
}
