/** What limits that carry over have on top in the period that is open now. */
import { type CounterKey, type CounterSnapshot, counterName } from '../../../policies/claim.ts';
import { carriedInto, carriesOver, previousCounterOf } from '../../../policies/limits/carry-over.ts';
import type { Limit } from '../../../policies/limits/limit.ts';
import { counterOf, type LimitSet, limitPeriod } from '../../../policies/limits/limits.ts';
import type { LimitTable, OpeningEntry } from './limit-table.ts';

/** How counters stand, one per key, same order; `rev` 0: nothing was ever counted there. `Ledger.readCounters` is one. */
export type PreviousCounters = (
  keys: readonly CounterKey[],
) => Promise<readonly (CounterSnapshot & { readonly rev: number })[]>;

interface OpeningDeps {
  readonly table: LimitTable;
  readonly previous: PreviousCounters;
  readonly timeoutMs: number;
}

export interface TimedLimits {
  readonly limits: LimitSet;
  /** From then on it has to be asked again, Unix ms. */
  readonly untilMs: number;
}

/**
 * Clocks of two programs differ by minutes at worst, and the later one still counts in the old period. Until this long
 * after its start a period's opening is computed anew now and then; after that it is written down, once and for all.
 */
const SETTLING_MS = 10 * 60_000;
const AGAIN_MS = 30_000;

interface Carrying {
  readonly limit: Limit;
  readonly key: CounterKey;
  readonly startMs: number;
  readonly endMs: number;
}

/**
 * Puts its opening on each limit that carries over. A period before which nothing is known (no counter, no opening:
 * the limit is new) begins with nothing.
 *
 * @param known - openings that were read or written before, by counter name; those of periods that are over go.
 */
export async function withOpenings(
  limits: LimitSet,
  nowMs: number,
  known: Map<string, OpeningEntry>,
  deps: OpeningDeps,
): Promise<TimedLimits> {
  const carrying = [...limits.bySubject.values()].flat().flatMap((limit) => carryingOf(limit, nowMs));
  if (carrying.length === 0) return { limits, untilMs: Number.POSITIVE_INFINITY };
  const names = new Set(carrying.map(({ key }) => counterName(key)));
  for (const name of known.keys()) if (!names.has(name)) known.delete(name);
  const unknown = carrying.filter(({ key }) => !known.has(counterName(key)));
  const provisional = await open(unknown, nowMs, known, deps);
  const bySubject = new Map(limits.bySubject);
  for (const { limit, key } of carrying) {
    const carried = (known.get(counterName(key)) ?? provisional.get(counterName(key)))?.carried ?? 0;
    const opened = { ...limit, opening: { period: key.period, carried } };
    const others = bySubject.get(limit.subject) ?? [];
    bySubject.set(
      limit.subject,
      others.map((other) => (other.id === limit.id ? opened : other)),
    );
  }
  const ends = carrying.map(({ endMs }) => endMs);
  const untilMs = provisional.size > 0 ? nowMs + AGAIN_MS : Number.POSITIVE_INFINITY;
  return { limits: { ...limits, bySubject }, untilMs: ends.reduce((a, b) => Math.min(a, b), untilMs) };
}

function carryingOf(limit: Limit, nowMs: number): readonly Carrying[] {
  if (!carriesOver(limit)) return [];
  const period = limitPeriod(limit, nowMs);
  return period === undefined
    ? []
    : [{ limit, key: counterOf(limit, nowMs), startMs: period.startMs, endMs: period.endMs }];
}

/** Reads or computes openings; those that stand go into `known`, the others are returned. */
async function open(
  carrying: readonly Carrying[],
  nowMs: number,
  known: Map<string, OpeningEntry>,
  { table, previous, timeoutMs }: OpeningDeps,
): Promise<ReadonlyMap<string, OpeningEntry>> {
  const provisional = new Map<string, OpeningEntry>();
  if (carrying.length === 0) return provisional;
  const before = carrying.map(({ limit, key }) => previousCounterOf(limit, nowMs) ?? key);
  const [standing, earlier, counters] = await Promise.all([
    table.readOpenings(
      carrying.map(({ key }) => key),
      { timeoutMs },
    ),
    table.readOpenings(before, { timeoutMs }),
    previous(before),
  ]);
  for (const [index, { limit, key, startMs }] of carrying.entries()) {
    const name = counterName(key);
    const there = standing[index];
    if (there !== undefined) {
      known.set(name, there);
      continue;
    }
    const entry = openingOf(limit, key, nowMs, earlier[index], counters[index]);
    if (nowMs < startMs + SETTLING_MS) provisional.set(name, entry);
    else known.set(name, await table.putOpening(entry, { timeoutMs }));
  }
  return provisional;
}

function openingOf(
  limit: Limit,
  key: CounterKey,
  atMs: number,
  earlier: OpeningEntry | undefined,
  counter: (CounterSnapshot & { readonly rev: number }) | undefined,
): OpeningEntry {
  const { committed = 0, settled = 0, rev = 0 } = counter ?? {};
  const isNew = rev === 0 && earlier === undefined;
  const carried = isNew
    ? 0
    : carriedInto(limit, atMs, { committed, settled, carried: earlier?.carried ?? 0 });
  return { key, carried, committed, settled, atMs };
}
