import { DUE_SHARDS } from '../../functions/ledger/keys.ts';
import type { JobEnd, Ledger } from '../../functions/ledger/ledger.ts';
import type { LedgerStore } from '../../functions/ledger/store.ts';

/** Ends are settled together, as they are behind GitLab's webhooks. */
const SETTLE_EVERY_MS = 100;

/** How long jobs are taken to live. */
export interface LifeSpan {
  /** A minute of a job takes this long here. */
  readonly minuteMs: number;
  /** Between these shares of the estimate. */
  readonly shareMin: number;
  readonly shareMax: number;
}

/** So short that holds turn into spend while one watches. */
export const REPLAYED: LifeSpan = { minuteMs: 100, shareMin: 0.3, shareMax: 1.1 };

/** Of jobs on real runners, whose end this machine does not see. */
export const AS_ESTIMATED: LifeSpan = { minuteMs: 60_000, shareMin: 1, shareMax: 1 };

/**
 * Plays the runners: an admitted job runs for a while and ends, and its hold is settled to what it took.
 * Without it nothing would ever be given back.
 */
export class JobLives {
  readonly #ledger: Ledger;
  readonly #random: () => number;
  readonly #span: LifeSpan;
  readonly #running = new Map<number, JobEnd>();
  #ended: JobEnd[] = [];
  #settling: Promise<unknown> = Promise.resolve();
  readonly #flushTimer: NodeJS.Timeout;

  constructor(ledger: Ledger, span: LifeSpan, random: () => number) {
    this.#ledger = ledger;
    this.#span = span;
    this.#random = random;
    this.#flushTimer = setInterval(() => this.#flush(), SETTLE_EVERY_MS);
  }

  /** A job was admitted and starts now. */
  start(jobId: number, estimateSeconds: number): void {
    const { minuteMs, shareMin, shareMax } = this.#span;
    const share = shareMin + this.#random() * (shareMax - shareMin);
    const durationSeconds = Math.round(estimateSeconds * share);
    const livesMs = (durationSeconds / 60) * minuteMs;
    this.#running.set(jobId, { jobId, durationSeconds, endedAtMs: Date.now() + livesMs });
    setTimeout(() => this.#end(jobId), livesMs).unref();
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

const LEFTOVERS_AT_ONCE = 100;
/** More than any run leaves; what is beyond is left for the next one. */
const LEFTOVER_ROUNDS_MAX = 100;
const READ_TIMEOUT_MS = 5_000;

/** Settles the jobs of a run that was killed, to what they were taken to cost: nobody else will. */
export async function endLeftovers(store: LedgerStore, ledger: Ledger): Promise<void> {
  const options = { timeoutMs: READ_TIMEOUT_MS };
  for (let shard = 0; shard < DUE_SHARDS; shard += 1) {
    for (let round = 0; round < LEFTOVER_ROUNDS_MAX; round += 1) {
      const due = await store.due(shard, Number.MAX_SAFE_INTEGER, LEFTOVERS_AT_ONCE, options);
      if (due.length === 0) break;
      const records = await store.readRecords(
        due.map(({ jobId }) => jobId),
        options,
      );
      await ledger.settle(
        records.flatMap((record) =>
          record === undefined
            ? []
            : [{ jobId: record.jobId, durationSeconds: record.facts.estimateSeconds, endedAtMs: Date.now() }],
        ),
      );
    }
  }
}
