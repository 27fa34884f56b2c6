import { counterName } from '../../../policies/claim.ts';
import { keepLatest } from '../../../policies/keep-latest.ts';
import type { LedgerClock } from '../environment/environment.ts';
import { undefinedIfSilent } from '../store/table-failure.ts';
import type { LedgerStore, ReadOptions, TransactOutcome, Write } from './store.ts';

export interface AttemptDeps extends TransactDeps {
  readonly store: LedgerStore;
}

export interface TransactDeps {
  readonly store: Pick<LedgerStore, 'transact'>;
  readonly clock: LedgerClock;
  readonly random: () => number;
  readonly newToken: () => string;
  readonly onRetry?: (() => void) | undefined;
  readonly onContended?: ((writes: readonly Write[]) => void) | undefined;
  readonly budgets?: RetryBudgets | undefined;
  /** A job waits for it, so it retries sooner after a conflict. Ends of jobs can wait longer. */
  readonly isUrgent?: boolean;
}

/** Time that a transaction needs. With less it may commit after the deadline: the job is charged, but the fallback answers. */
export const TRANSACTION_RESERVE_MS = 150;
/** A transaction takes about 10 ms. Silence for a third of the time left means a dead connection; the token makes asking again safe. */
const SILENCE_SHARE = 1 / 3;
const SILENCE_MS_MIN = 300;
/** Budgets and deadlines end the retries earlier. This is for tests in which the clock stands still. */
const TRIES_MAX = 40;
/** Full jitter over 10, 20, 40 … 200 ms, for a busy table. */
const PAUSE_MS = { first: 10, most: 200 };
/** Ends of jobs can wait, and large ones hold counters for long. A millisecond more per item leaves the counters to admissions. */
const endsPauseMs = (items: number) => ({ first: PAUSE_MS.first + items, most: 800 });
const SILENCES_MAX = 3;

type AttemptResult =
  | Extract<TransactOutcome, { readonly outcome: 'committed' | 'refused' }>
  | { readonly outcome: 'gave_up'; readonly cause: GaveUpCause };

export type GaveUpCause = 'deadline' | 'contended' | 'unavailable';

/** @param deadlineMs - on the monotonic clock. Never throws for an unavailable table. */
export async function attempt(
  writes: readonly Write[],
  deadlineMs: number,
  deps: TransactDeps,
): Promise<AttemptResult> {
  // One token for all tries: an answer that was lost is found again instead of being applied twice.
  const token = deps.newToken();
  const { budgets = new RetryBudgets(deps.clock) } = deps;
  let cause: GaveUpCause = 'deadline';
  let silences = 0;
  for (let tries = 1; tries <= TRIES_MAX; tries += 1) {
    const leftMs = timeLeftMs(deadlineMs, deps.clock);
    if (leftMs < TRANSACTION_RESERVE_MS) break;
    const timeoutMs = Math.min(leftMs, Math.max(SILENCE_MS_MIN, leftMs * SILENCE_SHARE));
    const answer = await deps.store.transact(writes, { token, timeoutMs }).catch(undefinedIfSilent);
    if (answer === undefined) silences += 1;
    else if (answer.outcome === 'committed' || answer.outcome === 'refused') {
      budgets.committed(writes);
      return answer;
    }
    deps.onRetry?.();
    const contended = writes.filter((_, place) => answer?.contended?.includes(place));
    deps.onContended?.(contended);
    cause = answer?.outcome === 'conflict' ? 'contended' : 'unavailable';
    if (silences >= SILENCES_MAX) break;
    const { first, most } = deps.isUrgent ? PAUSE_MS : endsPauseMs(writes.length);
    const patientMs = Math.min(most, first * 2 ** (tries - 1));
    const { atLeastMs, jitterMs } = budgets.take(contended, tries);
    const isRace = deps.isUrgent === true && cause === 'contended' && contended.length > 0;
    const pauseMs = atLeastMs + deps.random() * (isRace ? jitterMs : patientMs);
    if (timeLeftMs(deadlineMs, deps.clock) - pauseMs < TRANSACTION_RESERVE_MS) break;
    await deps.clock.sleep(pauseMs);
  }
  return { outcome: 'gave_up', cause };
}

export const timeLeftMs = (deadlineMs: number, clock: LedgerClock): number =>
  deadlineMs - clock.monotonicMs();

/** A consistent read takes a few milliseconds. */
const READ_TIMEOUT_MS = 300;

/** Leaves time for the transaction after the read. Undefined: there is not enough time left for both. */
export function readOptions(deadlineMs: number, clock: LedgerClock): ReadOptions | undefined {
  const leftMs = timeLeftMs(deadlineMs, clock) - TRANSACTION_RESERVE_MS;
  return leftMs <= 0 ? undefined : { timeoutMs: Math.min(READ_TIMEOUT_MS, leftMs) };
}

/** Races lost in a row up to this number are bad luck, and no sign of a crowd. */
const TRIES_SAVED_MAX = 40;
/** A transaction that commits or is refused refills this many tries: rivals of a hundred items lose about this often in between. */
const TRIES_PER_COMMIT = 8;
const TRIES_PER_SECOND = 25;
/** A transaction holds its items for about 5 ms: the first pause lets one pass. Growing pauses would starve the loser. */
const RACE_PAUSE_MS_FIRST = 18;
const RACE_PAUSE_MS_MIN = 4;
/** Used once half of the saved tries are gone. */
const RACE_PAUSE_MS_CROWD = 30;
const ITEMS_MAX = 1_000;

interface Bucket {
  tries: number;
  atMs: number;
}

/** A bucket of tries for each item that lost a race, so that load does not grow with conflicts. */
export class RetryBudgets {
  readonly #buckets = new Map<string, Bucket>();
  readonly #clock: Pick<LedgerClock, 'monotonicMs'>;

  constructor(clock: Pick<LedgerClock, 'monotonicMs'>) {
    this.#clock = clock;
  }

  take(writes: readonly Write[], tries: number): { readonly atLeastMs: number; readonly jitterMs: number } {
    const nowMs = this.#clock.monotonicMs();
    let least = TRIES_SAVED_MAX;
    for (const write of writes) {
      const bucket = this.#filled(itemOf(write), nowMs);
      bucket.tries = Math.max(-TRIES_SAVED_MAX, bucket.tries - 1);
      least = Math.min(least, bucket.tries);
    }
    return {
      atLeastMs: Math.max(0, (-least * 1000) / TRIES_PER_SECOND),
      jitterMs:
        least > TRIES_SAVED_MAX / 2
          ? Math.max(RACE_PAUSE_MS_MIN, RACE_PAUSE_MS_FIRST / tries)
          : RACE_PAUSE_MS_CROWD,
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

/** Conflicts are on counters; other items of a job conflict only with requests about the same job. */
const itemOf = (write: Write): string =>
  write.kind === 'counter' || write.kind === 'reset' ? counterName(write.key) : write.kind;
