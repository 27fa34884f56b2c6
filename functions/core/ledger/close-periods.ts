/**
 * Closing entries: what a period came to, kept for good, so that garbage collection may take its records.
 *
 * Every counter stands in the due index under the time at which all jobs of its period have ended, and leaves it with its
 * closing entry. A correction that comes later puts it back, so that the next closing takes the correction in. So closing
 * reads what is due and nothing else, however large the table is.
 */

import { randomUUID } from 'node:crypto';
import { atOnce, type LedgerClock } from '../environment/index.ts';
import { DUE_SHARDS } from '../store/index.ts';
import { attempt, type TransactDeps, timeLeftMs } from './attempt.ts';
import type { ClosingEntry } from './entry.ts';
import type { Counter } from './ledger.ts';
import { amountsOf } from './recount.ts';
import type { ClosingStore, CounterReset, LedgerStore, StoredItem, Write } from './store.ts';

const TIMEOUT_MS = 5_000;
/** Per call: 512 periods in all. A month's end has some for every group, and weeks of time. */
const CLOSINGS_PER_SHARD_MAX = 32;
const AT_ONCE = 8;
/** Time before a period with a live job or a drifting counter is tried again. */
const AGAIN_MS = 6 * 3_600_000;

interface ClosePeriodsDeps extends TransactDeps {
  readonly store: TransactDeps['store'] & ClosingStore;
}

export interface ClosedPeriods {
  readonly closed: number;
  /** Due, and not closed: live jobs hold on them, or their counters drift. */
  readonly waiting: number;
  /** Changed concurrently, or the table did not answer. The next call retries them. */
  readonly undecided: number;
}

/**
 * Closes what is due, oldest first.
 *
 * @param deadlineMs - on the monotonic clock; what is not begun by then is left to the next call.
 * @throws {LedgerError} `ledger_unavailable`
 */
export async function closePeriods(deadlineMs: number, deps: ClosePeriodsDeps): Promise<ClosedPeriods> {
  const { store, clock } = deps;
  const timeoutMs = TIMEOUT_MS;
  const nowMs = clock.nowMs();
  const shards = Array.from({ length: DUE_SHARDS }, (_, shard) => shard);
  const pages = await Promise.all(
    shards.map((shard) => store.dueClosings(shard, nowMs, CLOSINGS_PER_SHARD_MAX, { timeoutMs })),
  );
  const sum = { closed: 0, waiting: 0, undecided: 0 };
  await atOnce(pages.flat(), AT_ONCE, async (key) => {
    if (timeLeftMs(deadlineMs, clock) <= 0) return;
    const outcome = await closePeriod(await store.readPeriod(key, { timeoutMs }), deps);
    if (outcome !== undefined) sum[outcome] += 1;
  });
  return sum;
}

/** Returns undefined if the counter is gone. */
async function closePeriod(
  items: readonly StoredItem[],
  deps: ClosePeriodsDeps,
): Promise<keyof ClosedPeriods | undefined> {
  const counter = counterIn(items);
  if (counter === undefined) return undefined;
  const mayClose = isQuiet(counter) && counter.drifts === undefined;
  const nowMs = deps.clock.nowMs();
  const writes = mayClose ? closed(counter, items, nowMs) : [resetOf(counter, nowMs + AGAIN_MS)];
  const { outcome } = await attempt(writes, deps.clock.monotonicMs() + TIMEOUT_MS, deps);
  if (outcome !== 'committed') return 'undecided';
  return mayClose ? 'closed' : 'waiting';
}

/** Returns true if no job holds an amount here: held amounts are committed and not settled. */
const isQuiet = ({ committed, settled }: Counter): boolean => committed === settled;

function closed(counter: Counter, items: readonly StoredItem[], closedAtMs: number): readonly Write[] {
  const { key } = counter;
  const replaces = closingIn(items);
  const closing = { key, ...amountsOf(counter), closedAtMs };
  return [resetOf(counter), { kind: 'closing', closing, ...(replaces !== undefined && { replaces }) }];
}

/** To its own amounts: that pins the rev, and with it what was read. */
const resetOf = (counter: Counter, closeAtMs?: number): CounterReset => ({
  kind: 'reset',
  key: counter.key,
  amounts: amountsOf(counter),
  rev: counter.rev,
  ...(counter.drifts && { drifts: counter.drifts }),
  ...(closeAtMs !== undefined && { closeAtMs }),
});

export interface ClosingOptions {
  readonly store: Pick<LedgerStore, 'transact'> & ClosingStore;
  readonly clock: LedgerClock;
  /** [0, 1), for the jitter between tries. */
  readonly random: () => number;
}

/** Closes a page of the periods that are due over a table; see {@link closePeriods}. */
export const createClosing =
  (options: ClosingOptions) =>
  (deadlineMs: number): Promise<ClosedPeriods> =>
    closePeriods(deadlineMs, { ...options, newToken: randomUUID });

// Items of a period's partition, as {@link ClosingStore.readPeriod} returns them.

const counterIn = (items: readonly StoredItem[]): Counter | undefined =>
  items.flatMap((item) => (item.kind === 'counter' ? item.counter : []))[0];

const closingIn = (items: readonly StoredItem[]): ClosingEntry | undefined =>
  items.flatMap((item) => (item.kind === 'closing' ? item.closing : []))[0];
