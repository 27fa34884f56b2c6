/**
 * Recounts every counter from its records. A scan is not a snapshot, so a difference is drift only if two
 * passes show the same one while `rev` stayed unchanged from the first pass until after the second.
 */

import { randomUUID } from 'node:crypto';
import { isPipelineCounter } from '../../../policies/claim.ts';
import { DAY_MS } from '../../../policies/limits/calendar.ts';
import { atOnce } from '../environment/environment.ts';
import { DUE_SHARDS } from '../store/keys.ts';
import { type AttemptDeps, attempt, type TransactDeps, timeLeftMs } from './attempt.ts';
import type { ClosingEntry, Counter, Drift, RebuildOptions, RebuildReport } from './ledger.ts';
import { agrees, amountsOf, type Recount, recount, sameAmounts, shown } from './recount.ts';
import { expiring, goesUnclosed, isClosable, isWindow, mayLackRecords } from './retention.ts';
import type { ClosingStore, CounterReset, StoredItem, Write } from './store.ts';

const REPAIR_TIMEOUT_MS = 10_000;
export const READ_TIMEOUT_MS = 5_000;

export async function rebuild(options: RebuildOptions, deps: AttemptDeps): Promise<RebuildReport> {
  // It only names suspects, at half the price: what it has not seen yet makes one too many, or one that the next
  // recount finds. A counter it shows with the rev of the second pass was not written in between, however late it was read.
  const first = await recount(deps.store.scan('eventual'));
  const { suspects, unproven, unclosed } = findSuspects(first, deps.clock.nowMs());
  const report = {
    records: first.records,
    counters: first.counters.size,
    unproven,
    passedOver: first.passedOver,
    unclosed: unclosed.length,
  };
  if (suspects.length === 0) {
    return { ...report, drift: [], repaired: 0 };
  }

  const second = await recount(deps.store.scan('consistent'));
  if (second.passedOver > 0) return { ...report, passedOver: second.passedOver, drift: [], repaired: 0 };
  const steady = suspects.filter((name) => sameDifference(name, first, second));
  // A write between the second pass's reads would fake a difference; it shows in the rev now.
  const now = await deps.store.readCounters(
    steady.map((name) => second.key(name)),
    { timeoutMs: READ_TIMEOUT_MS },
  );
  const drifted = steady.filter((name, index) => revOf(now[index]) === revOf(second.counters.get(name)));

  let repaired = 0;
  if (options.repair) {
    for (const name of drifted) if (await repair(name, second, deps)) repaired += 1;
  }
  return { ...report, drift: drifted.map((name) => driftOf(name, second)), repaired };
}

export function findSuspects(
  first: Recount,
  nowMs: number,
): {
  /** They differ, and what they were made of must still be there. */
  readonly suspects: readonly string[];
  readonly unproven: readonly Drift[];
  readonly unclosed: readonly string[];
} {
  const differing = first.names().filter((name) => !agrees(first, name));
  return {
    suspects: differing.filter((name) => isProvable(name, first, nowMs)),
    unproven: differing.filter((name) => isUnproven(name, first, nowMs)).map((name) => driftOf(name, first)),
    unclosed: first.passedOver > 0 ? [] : first.names().filter((name) => isUnclosed(name, first, nowMs)),
  };
}

/** All records of the counter must still exist and were read. Counters of pipelines expire before their records. */
function isProvable(name: string, pass: Recount, nowMs: number): boolean {
  if (pass.passedOver > 0) return false;
  const key = pass.key(name);
  if (isPipelineCounter(key)) return false;
  return !mayLackRecords(key, nowMs) || pass.closing(name) !== undefined;
}

/** Returns true for window and user counters past their retention, which expire soon. */
function isUnproven(name: string, pass: Recount, nowMs: number): boolean {
  const key = pass.key(name);
  if (!pass.counters.has(name) || isPipelineCounter(key)) return false;
  if (pass.passedOver > 0) return true;
  return !isWindow(key) && !goesUnclosed(key) && !isProvable(name, pass, nowMs);
}

/** Returns true if its closing is a day late. */
function isUnclosed(name: string, pass: Recount, nowMs: number): boolean {
  if (!pass.counters.has(name) || !isClosable(pass.key(name), nowMs - DAY_MS)) return false;
  return pass.closing(name) === undefined || pass.correctedBefore(name, nowMs - DAY_MS);
}

export const revOf = (counter: Counter | undefined): number => counter?.rev ?? 0;

const sameDifference = (name: string, first: Recount, second: Recount): boolean =>
  revOf(first.counters.get(name)) === revOf(second.counters.get(name)) &&
  // The counter stands still, so the same difference is the same recount.
  sameAmounts(first.expected(name), second.expected(name));

export const driftOf = (name: string, pass: Recount): Drift => ({
  key: pass.key(name),
  counter: amountsOf(shown(pass, name)),
  recount: pass.expected(name),
});

async function repair(name: string, pass: Recount, deps: AttemptDeps): Promise<boolean> {
  const reset: CounterReset = {
    kind: 'reset',
    key: pass.key(name),
    amounts: pass.expected(name),
    rev: revOf(pass.counters.get(name)),
  };
  const { outcome } = await attempt(
    [expiring(reset, deps.clock.nowMs())],
    deps.clock.monotonicMs() + REPAIR_TIMEOUT_MS,
    deps,
  );
  return outcome === 'committed';
}

const MARKS_MAX = 20_000;
const AT_ONCE = 8;

/** @param drifted - they get the mark; others that have it and agree lose it @param unclosed - are put in line again */
export async function markDrift(
  pass: Recount,
  { drifted, unclosed }: { readonly drifted: readonly string[]; readonly unclosed: readonly string[] },
  deps: AttemptDeps,
): Promise<void> {
  const drifting = new Set(drifted);
  const overdue = new Set(unclosed);
  const due = [...pass.counters].filter(
    ([name, { drifts }]) =>
      overdue.has(name) || (drifts === undefined ? drifting.has(name) : agrees(pass, name)),
  );
  await atOnce(due.slice(0, MARKS_MAX), AT_ONCE, ([name, counter]) =>
    mark(counter, drifting.has(name), deps),
  );
}

/** A counter that changed concurrently is left to the next recount. */
async function mark(counter: Counter, drifts: boolean, deps: AttemptDeps): Promise<void> {
  const { key, rev } = counter;
  const reset = { kind: 'reset', key, amounts: amountsOf(counter), rev, ...(drifts && { drifts }) } as const;
  await attempt([expiring(reset, deps.clock.nowMs())], deps.clock.monotonicMs() + REPAIR_TIMEOUT_MS, deps);
}

// Closing entries: what a period came to, kept for good, so that garbage collection may take its records.
//
// Every counter stands in the due index under the time at which all jobs of its period have ended, and leaves it with its
// closing entry. A correction that comes later puts it back, so that the next closing takes the correction in. So closing
// reads what is due and nothing else, however large the table is.

/** Per call: 512 periods in all. A month's end has some for every group, and weeks of time. */
const CLOSINGS_PER_SHARD_MAX = 32;
/** Time before a period with a live job or a drifting counter is tried again. */
const AGAIN_MS = 6 * 3_600_000;

interface ClosePeriodsDeps extends TransactDeps {
  readonly store: TransactDeps['store'] & ClosingStore;
}

export interface ClosedPeriods {
  readonly closed: number;
  readonly waiting: number;
  /** Changed concurrently, or the table did not answer. The next call retries them. */
  readonly undecided: number;
}

/** Closes what is due, oldest first. @throws {LedgerError} `ledger_unavailable` */
async function closePeriods(deadlineMs: number, deps: ClosePeriodsDeps): Promise<ClosedPeriods> {
  const { store, clock } = deps;
  const timeoutMs = READ_TIMEOUT_MS;
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

async function closePeriod(
  items: readonly StoredItem[],
  deps: ClosePeriodsDeps,
): Promise<keyof ClosedPeriods | undefined> {
  const counter = counterIn(items);
  if (counter === undefined) return undefined;
  const mayClose = isQuiet(counter) && counter.drifts === undefined;
  const nowMs = deps.clock.nowMs();
  const writes = mayClose ? closed(counter, items, nowMs) : [resetOf(counter, nowMs + AGAIN_MS)];
  const { outcome } = await attempt(writes, deps.clock.monotonicMs() + READ_TIMEOUT_MS, deps);
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

export const createClosing =
  (options: Omit<ClosePeriodsDeps, 'newToken'>) =>
  (deadlineMs: number): Promise<ClosedPeriods> =>
    closePeriods(deadlineMs, { ...options, newToken: randomUUID });

const counterIn = (items: readonly StoredItem[]): Counter | undefined =>
  items.flatMap((item) => (item.kind === 'counter' ? item.counter : []))[0];

const closingIn = (items: readonly StoredItem[]): ClosingEntry | undefined =>
  items.flatMap((item) => (item.kind === 'closing' ? item.closing : []))[0];
