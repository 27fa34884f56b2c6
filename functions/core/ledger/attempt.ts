/** One transaction against the weather: conflicts, throttles and lost answers are tried again while there is time. */
import type { LedgerClock } from '../environment/index.ts';
import { LedgerError } from '../store/index.ts';
import { RetryBudgets } from './retry-budgets.ts';
import type { LedgerStore, Refusal, TransactOptions, Write } from './store.ts';

export interface AttemptDeps extends TransactDeps {
  readonly store: LedgerStore;
}

/** What a transaction takes. */
export interface TransactDeps {
  readonly store: Pick<LedgerStore, 'transact'>;
  readonly clock: LedgerClock;
  /** [0, 1) */
  readonly random: () => number;
  /** A new client request token, at most 36 characters. */
  readonly newToken: () => string;
  /** Told of every conflict, throttle and silence, whether or not there is time to try again. @default nobody is */
  readonly onRetry?: (() => void) | undefined;
  /** Told of the writes that met others, where the table says which they are. @default nobody is */
  readonly onContended?: ((writes: readonly Write[]) => void) | undefined;
  /** @default every transaction has tries of its own */
  readonly budgets?: RetryBudgets | undefined;
  /** A job waits for it: races lost are run again sooner. Ends of jobs can wait, and let them pass. */
  readonly isUrgent?: boolean;
}

/** A transaction started with less than this may well commit unheard; its job would be charged and answered by the fallback. */
export const TRANSACTION_RESERVE_MS = 150;
/**
 * A transaction takes about 10 ms, tens at p99. Silence for a third of the time left means a dead connection, and leaves
 * time to ask again, which the token makes safe.
 */
const SILENCE_SHARE = 1 / 3;
const SILENCE_MS_MIN = 300;
/** Budgets and deadlines end most trying before; this ends it where time stands still. */
const TRIES_MAX = 40;
/** Full jitter over 10, 20, 40 … 200 ms: for a busy table, and for what nobody waits for. */
const PAUSE_MS_MIN = 10;
const PAUSE_MS_MAX = 200;
/** Three silences in one call are an outage. */
const SILENCES_MAX = 3;

type AttemptResult =
  | { readonly outcome: 'committed' }
  | { readonly outcome: 'refused'; readonly refusals: readonly (Refusal | undefined)[] }
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
  const atMs = deps.clock.nowMs();
  const { budgets = new RetryBudgets(deps.clock) } = deps;
  let cause: GaveUpCause = 'deadline';
  let silences = 0;
  for (let tries = 1; tries <= TRIES_MAX; tries += 1) {
    const leftMs = timeLeftMs(deadlineMs, deps.clock);
    if (leftMs < TRANSACTION_RESERVE_MS) break;
    const answer = await transact(writes, { token, atMs, timeoutMs: silenceMs(leftMs) }, deps.store);
    if (answer === 'silence') silences += 1;
    else if (answer.outcome === 'committed' || answer.outcome === 'refused') {
      budgets.committed(writes);
      return answer;
    }
    deps.onRetry?.();
    const contended = contendedOf(answer, writes);
    deps.onContended?.(contended);
    cause = answer !== 'silence' && answer.outcome === 'conflict' ? 'contended' : 'unavailable';
    if (silences >= SILENCES_MAX) break;
    const patientMs = Math.min(PAUSE_MS_MAX, PAUSE_MS_MIN * 2 ** (tries - 1));
    const { atLeastMs, jitterMs } = budgets.take(contended, tries);
    const isRace = deps.isUrgent === true && cause === 'contended' && contended.length > 0;
    const pauseMs = atLeastMs + deps.random() * (isRace ? jitterMs : patientMs);
    if (timeLeftMs(deadlineMs, deps.clock) - pauseMs < TRANSACTION_RESERVE_MS) break;
    await deps.clock.sleep(pauseMs);
  }
  return { outcome: 'gave_up', cause };
}

/** The writes that met others, as far as the table tells. */
function contendedOf(
  answer: Exclude<Awaited<ReturnType<typeof transact>>, { readonly outcome: 'committed' | 'refused' }>,
  writes: readonly Write[],
): readonly Write[] {
  if (answer === 'silence') return [];
  const { contended } = answer;
  return contended === undefined ? [] : writes.filter((_, place) => contended.includes(place));
}

const silenceMs = (leftMs: number): number =>
  Math.min(leftMs, Math.max(SILENCE_MS_MIN, leftMs * SILENCE_SHARE));

export const timeLeftMs = (deadlineMs: number, clock: LedgerClock): number =>
  deadlineMs - clock.monotonicMs();

async function transact(
  writes: readonly Write[],
  options: TransactOptions,
  store: TransactDeps['store'],
): Promise<Awaited<ReturnType<LedgerStore['transact']>> | 'silence'> {
  try {
    return await store.transact(writes, options);
  } catch (error) {
    if (error instanceof LedgerError && error.code === 'ledger_unavailable') return 'silence';
    throw error;
  }
}
