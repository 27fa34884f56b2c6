/** Computes amounts carried into the current period. */
import { type CounterKey, type CounterSnapshot, counterName } from '../../../policies/claim.ts';
import { carriedInto, carriesOver } from '../../../policies/limits/carry-over.ts';
import type { Limit } from '../../../policies/limits/limit.ts';
import { counterOf, type LimitSet, limitPeriod } from '../../../policies/limits/limits.ts';
import type { LimitTable, OpeningEntry } from './limit-table.ts';

/** Reads counters, one per key, same order; `rev` 0: never written. `Ledger.readCounters` implements it. */
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
 * Clocks of programs differ by minutes, and a slow one still counts in the old period. For this long after
 * its start, a period's opening is recomputed; then it is stored permanently.
 */
const SETTLING_MS = 10 * 60_000;
const AGAIN_MS = 30_000;

interface Carrying {
  readonly limit: Limit;
  readonly key: CounterKey;
  readonly startMs: number;
  readonly endMs: number;
}

/** Names a second copy of a limit's first opening. Only that copy distinguishes a limit from a new one after an idle period. */
const FIRST = 'first';

/**
 * Puts its opening on each limit that carries over. A new limit begins with nothing. An idle period has no opening if no
 * program asked for its limit; then it had nothing but its amount.
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
  const read = (keys: readonly CounterKey[]) => table.readOpenings(keys, { timeoutMs });
  const keysBefore = carrying.map(({ limit, startMs }) => counterOf(limit, startMs - 1));
  const [standing, firsts, openings, counters] = await Promise.all([
    read(carrying.map(({ key }) => key)),
    read(carrying.map(({ key }) => firstOf(key))),
    read(keysBefore),
    previous(keysBefore),
  ]);
  for (const [index, { limit, key, startMs }] of carrying.entries()) {
    const [there, first, before] = [standing[index], firsts[index], openings[index]];
    const { committed = 0, settled = 0, rev = 0 } = counters[index] ?? {};
    const isNew = rev === 0 && before === undefined && (first === undefined || first.atMs >= startMs);
    const had = { committed, settled, carried: before?.carried ?? 0 };
    const carried = isNew ? 0 : carriedInto(limit, startMs, had);
    const entry = there ?? { key, carried, committed, settled, atMs: nowMs };
    if (first === undefined) await table.putOpening({ ...entry, key: firstOf(key) }, { timeoutMs });
    const name = counterName(key);
    if (there !== undefined) known.set(name, there);
    else if (nowMs < startMs + SETTLING_MS) provisional.set(name, entry);
    else known.set(name, await table.putOpening(entry, { timeoutMs }));
  }
  return provisional;
}

const firstOf = (key: CounterKey): CounterKey => ({ ...key, period: FIRST });
