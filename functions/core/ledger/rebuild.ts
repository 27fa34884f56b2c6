import { randomUUID } from 'node:crypto';
import { counterName, isPipelineCounter } from '../../../policies/claim.ts';
import { atOnce } from '../environment/environment.ts';
import { DUE_SHARDS } from '../store/keys.ts';
import { type AttemptDeps, attempt, type TransactDeps, timeLeftMs } from './attempt.ts';
import type { Counter, CounterAmounts, Drift, RebuildReport } from './ledger.ts';
import {
  agrees,
  amountsOf,
  driftOf,
  type Line,
  type Recount,
  recount,
  recountedAmounts,
  sameAmounts,
} from './recount.ts';
import { expiring, goesUnclosed, isWindow, mayLackRecords } from './retention.ts';
import type { ClosingStore, CounterReset, StoredItem, Write } from './store.ts';

const REPAIR_TIMEOUT_MS = 10_000;
export const READ_TIMEOUT_MS = 5_000;

/**
 * A scan is not a snapshot, so a difference is drift only if two passes show the same one while `rev` stayed unchanged from the
 * first pass until after the second.
 */
export async function rebuild(
  { repair }: { readonly repair: boolean },
  deps: AttemptDeps,
): Promise<RebuildReport> {
  // It only names suspects, at half the price. A counter it shows with the rev of the second pass was not written in between,
  // however late it was read.
  const first = await recount(deps.store.scan('eventual'));
  const { suspects, unproven } = findSuspects(first, deps.clock.nowMs());
  const { records, passedOver, lines } = first;
  const counters = [...lines.values()].filter(({ counter }) => counter !== undefined).length;
  const report = { records, counters, unproven, passedOver };
  if (suspects.length === 0) return { ...report, drift: [], repaired: 0 };

  const second = await recount(deps.store.scan('consistent'));
  if (second.passedOver > 0) return { ...report, passedOver: second.passedOver, drift: [], repaired: 0 };
  const steady = suspects.flatMap((line) => {
    const again = second.lines.get(counterName(line.key));
    if (again === undefined || revOf(line.counter) !== revOf(again.counter)) return [];
    // The counter stands still, so the same difference is the same recount.
    return sameAmounts(recountedAmounts(line), recountedAmounts(again)) ? [again] : [];
  });
  // A write between the second pass's reads would fake a difference; it shows in the rev now.
  const keys = steady.map(({ key }) => key);
  const now = await deps.store.readCounters(keys, { timeoutMs: READ_TIMEOUT_MS });
  const drifted = steady.filter(({ counter }, index) => revOf(now[index]) === revOf(counter));
  let repaired = 0;
  for (const line of repair ? drifted : []) {
    const to = { key: line.key, amounts: recountedAmounts(line), rev: revOf(line.counter) };
    if (await reset(to, deps)) repaired += 1;
  }
  return { ...report, drift: drifted.map(driftOf), repaired };
}

/** `suspects` differ although all their records must exist. A concurrent write may be the cause. */
export function findSuspects(
  first: Recount,
  nowMs: number,
): { readonly suspects: readonly Line[]; readonly unproven: readonly Drift[] } {
  // Counters of pipelines expire before their records.
  const differing = [...first.lines.values()].filter((line) => !isPipelineCounter(line.key) && !agrees(line));
  const unread = first.passedOver > 0;
  /** All records of the counter must still exist and were read. */
  const isProvable = ({ key, closing }: Line): boolean =>
    !unread && (!mayLackRecords(key, nowMs) || closing !== undefined);
  // Window and user counters past their retention expire soon.
  const isUnproven = (line: Line): boolean =>
    line.counter !== undefined &&
    (unread || !(isWindow(line.key) || goesUnclosed(line.key) || isProvable(line)));
  return { suspects: differing.filter(isProvable), unproven: differing.filter(isUnproven).map(driftOf) };
}

export const revOf = (counter: Counter | undefined): number => counter?.rev ?? 0;

/** False: the counter changed concurrently, and is left to the next recount. */
async function reset(to: Omit<CounterReset, 'kind'>, deps: AttemptDeps): Promise<boolean> {
  const write = expiring({ kind: 'reset', ...to }, deps.clock.nowMs());
  const { outcome } = await attempt([write], deps.clock.monotonicMs() + REPAIR_TIMEOUT_MS, deps);
  return outcome === 'committed';
}

const MARKS_MAX = 20_000;
const AT_ONCE = 8;

export async function markDrift(pass: Recount, drifted: ReadonlySet<Line>, deps: AttemptDeps): Promise<void> {
  const due = [...pass.lines.values()].flatMap((line) => {
    const { counter } = line;
    if (counter === undefined) return [];
    const isDrifting = drifted.has(line);
    const isDue = counter.drifts === undefined ? isDrifting : agrees(line);
    return isDue ? [{ counter, ...(isDrifting && { drifts: true as const }) }] : [];
  });
  await atOnce(due.slice(0, MARKS_MAX), AT_ONCE, async ({ counter, ...mark }) => {
    await reset({ key: counter.key, amounts: amountsOf(counter), rev: counter.rev, ...mark }, deps);
  });
}

// Closing entries: what a period came to, kept for good, so that garbage collection may take its records. Every counter stands in
// the due index under the time at which all jobs of its period have ended, and leaves it with its closing entry. A correction that
// comes later puts it back, so that the next closing takes the correction in.

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

/** Returns a program that closes a page of due periods, oldest first. @throws {LedgerError} `ledger_unavailable` */
export const createClosing =
  (options: Omit<ClosePeriodsDeps, 'newToken'>) =>
  async (deadlineMs: number): Promise<ClosedPeriods> => {
    const deps = { ...options, newToken: randomUUID };
    const { store, clock } = deps;
    const timeoutMs = READ_TIMEOUT_MS;
    const nowMs = clock.nowMs();
    const pages = await Promise.all(
      Array.from({ length: DUE_SHARDS }, (_, shard) =>
        store.dueClosings(shard, nowMs, CLOSINGS_PER_SHARD_MAX, { timeoutMs }),
      ),
    );
    const sum = { closed: 0, waiting: 0, undecided: 0 };
    await atOnce(pages.flat(), AT_ONCE, async (key) => {
      if (timeLeftMs(deadlineMs, clock) <= 0) return;
      const outcome = await closePeriod(await store.readPeriod(key, { timeoutMs }), deps);
      if (outcome !== undefined) sum[outcome] += 1;
    });
    return sum;
  };

async function closePeriod(
  items: readonly StoredItem[],
  deps: ClosePeriodsDeps,
): Promise<keyof ClosedPeriods | undefined> {
  const counter = items.find((item) => item.kind === 'counter')?.counter;
  if (counter === undefined) return undefined;
  const replaces = items.find((item) => item.kind === 'closing')?.closing;
  const { key, rev, drifts } = counter;
  const amounts: CounterAmounts = amountsOf(counter);
  // Held amounts are committed and not settled.
  const mayClose = counter.committed === counter.settled && drifts === undefined;
  const nowMs = deps.clock.nowMs();
  // Writes the same amounts on condition that `rev` has not changed since the read.
  const write: CounterReset = { kind: 'reset', key, amounts, rev, ...(drifts && { drifts }) };
  const writes: readonly Write[] = mayClose
    ? [
        write,
        { kind: 'closing', closing: { key, ...amounts, closedAtMs: nowMs }, ...(replaces && { replaces }) },
      ]
    : [{ ...write, closeAtMs: nowMs + AGAIN_MS }];
  const { outcome } = await attempt(writes, deps.clock.monotonicMs() + READ_TIMEOUT_MS, deps);
  if (outcome !== 'committed') return 'undecided';
  return mayClose ? 'closed' : 'waiting';
}
