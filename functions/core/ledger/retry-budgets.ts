/** How soon a lost race is run again: at once while races are won as well, and the rarer the less is won. */
import { counterName } from '../../../policies/claim.ts';
import { keepLatest } from '../../../policies/keep-latest.ts';
import type { LedgerClock } from '../environment/index.ts';
import type { Write } from './store.ts';

/** So many races lost in a row are bad luck, and no sign of a crowd. */
const TRIES_SAVED_MAX = 40;
/** What a transaction that commits pays for: two rivals for one item lose about so often for each that wins. */
const TRIES_PER_COMMIT = 4;
/** Where nothing commits, so many tries a second and process are left. */
const TRIES_PER_SECOND = 25;
/**
 * A transaction holds its items for some 5 ms, and rivals are few: another relay, and the ends of jobs. The first pause lets one
 * of them pass; the next are shorter, because a pause that grows with each loss starves whoever lost before.
 */
const PAUSE_MS_FIRST = 18;
const PAUSE_MS_MIN = 4;
/** Once half of what was saved is gone. */
const PAUSE_MS_CROWD = 30;
const ITEMS_MAX = 1_000;

interface Bucket {
  tries: number;
  atMs: number;
}

/**
 * A bucket of tries for each item that this process has lost a race for. All tries of a process for one item are at most so many
 * for each that commits, and a few a second: load does not grow with refusals.
 */
export class RetryBudgets {
  readonly #buckets = new Map<string, Bucket>();
  readonly #clock: Pick<LedgerClock, 'monotonicMs'>;

  constructor(clock: Pick<LedgerClock, 'monotonicMs'>) {
    this.#clock = clock;
  }

  /**
   * Takes a try for each of them.
   *
   * @param tries - so many were made.
   * @returns how long to wait before the next, and a random part of how much longer, ms.
   */
  take(writes: readonly Write[], tries: number): { readonly atLeastMs: number; readonly jitterMs: number } {
    const nowMs = this.#clock.monotonicMs();
    let least = TRIES_SAVED_MAX;
    for (const write of writes) {
      const bucket = this.#filled(itemOf(write), nowMs);
      // What is owed is waited for.
      bucket.tries = Math.max(-TRIES_SAVED_MAX, bucket.tries - 1);
      least = Math.min(least, bucket.tries);
    }
    return {
      atLeastMs: Math.max(0, (-least * 1000) / TRIES_PER_SECOND),
      jitterMs: least > TRIES_SAVED_MAX / 2 ? Math.max(PAUSE_MS_MIN, PAUSE_MS_FIRST / tries) : PAUSE_MS_CROWD,
    };
  }

  committed(writes: readonly Write[]): void {
    if (this.#buckets.size === 0) return;
    for (const write of writes) {
      const bucket = this.#buckets.get(itemOf(write));
      if (bucket !== undefined) bucket.tries += TRIES_PER_COMMIT;
    }
  }

  #filled(item: string, nowMs: number): Bucket {
    const { tries, atMs } = this.#buckets.get(item) ?? { tries: TRIES_SAVED_MAX, atMs: nowMs };
    const earned = ((nowMs - atMs) * TRIES_PER_SECOND) / 1000;
    const bucket = { tries: Math.min(TRIES_SAVED_MAX, tries + earned), atMs: nowMs };
    keepLatest(this.#buckets, item, bucket, ITEMS_MAX);
    return bucket;
  }
}

/** Counters are what is fought for; all else of a job is fought for by whoever asks about the same job. */
const itemOf = (write: Write): string =>
  write.kind === 'counter' || write.kind === 'reset' ? counterName(write.key) : write.kind;
