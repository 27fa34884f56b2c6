/** Computes amounts carried into the current period. */
import { type CounterKey, type CounterSnapshot, counterName } from '../../../policies/claim.ts';
import type { Limit } from '../../../policies/limits/limit.ts';
import {
  carriedInto,
  carriesOver,
  counterOf,
  type LimitSet,
  limitPeriod,
} from '../../../policies/limits/limits.ts';
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

/** A program reads two items per period and limit, and only if no program wrote the opening of the period before. */
const PERIODS_BACK_MAX = 12;

/**
 * Names a second copy of a limit's first opening. Only that copy distinguishes a limit from a new one after more than
 * {@link PERIODS_BACK_MAX} idle periods.
 */
const FIRST = 'first';

/**
 * Puts its opening on each limit that carries over. A new limit begins with nothing. An idle period has no opening if no
 * program asked for its limit; it carries over what it had.
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
  deps: OpeningDeps,
): Promise<ReadonlyMap<string, OpeningEntry>> {
  const { table, timeoutMs } = deps;
  const provisional = new Map<string, OpeningEntry>();
  if (carrying.length === 0) return provisional;
  const keys = carrying.map(({ key }) => key);
  const firstKeys = keys.map(firstOf);
  const [standing, firsts, before] = await Promise.all([
    table.readOpenings(keys, { timeoutMs }),
    table.readOpenings(firstKeys, { timeoutMs }),
    readEnds(
      carrying.flatMap((each) => earlierPeriods(each, 1)),
      deps,
    ),
  ]);
  const unopened = carrying.filter(
    (_, index) => standing[index] === undefined && before[index]?.opening === undefined,
  );
  const earlier = await readEnds(
    unopened.flatMap((each) => earlierPeriods(each, PERIODS_BACK_MAX)),
    deps,
  );
  for (const [index, each] of carrying.entries()) {
    const name = counterName(each.key);
    const there = standing[index];
    const from = unopened.indexOf(each) * PERIODS_BACK_MAX;
    const ends = from < 0 ? before.slice(index, index + 1) : earlier.slice(from, from + PERIODS_BACK_MAX);
    const entry = there ?? openingOf(each, nowMs, ends, firsts[index]);
    if (firsts[index] === undefined)
      await table.putOpening({ ...entry, key: firstOf(each.key) }, { timeoutMs });
    if (there !== undefined) known.set(name, there);
    else if (nowMs < each.startMs + SETTLING_MS) provisional.set(name, entry);
    else known.set(name, await table.putOpening(entry, { timeoutMs }));
  }
  return provisional;
}

const firstOf = (key: CounterKey): CounterKey => ({ ...key, period: FIRST });

interface EarlierPeriod {
  readonly key: CounterKey;
  /** When the period after it began, Unix ms. */
  readonly endMs: number;
}

function earlierPeriods({ limit, startMs }: Carrying, count: number): readonly EarlierPeriod[] {
  const periods: EarlierPeriod[] = [];
  for (let endMs = startMs; periods.length < count; ) {
    periods.push({ key: counterOf(limit, endMs - 1), endMs });
    endMs = limitPeriod(limit, endMs - 1)?.startMs ?? endMs;
  }
  return periods;
}

interface ReadEnd extends EarlierPeriod, CounterSnapshot {
  /** 0: no job was ever counted in it. */
  readonly rev: number;
  readonly opening: OpeningEntry | undefined;
}

async function readEnds(
  periods: readonly EarlierPeriod[],
  { table, previous, timeoutMs }: OpeningDeps,
): Promise<readonly ReadEnd[]> {
  if (periods.length === 0) return [];
  const keys = periods.map(({ key }) => key);
  const [openings, counters] = await Promise.all([table.readOpenings(keys, { timeoutMs }), previous(keys)]);
  return periods.map((period, index) => {
    const { committed = 0, settled = 0, rev = 0 } = counters[index] ?? {};
    return { ...period, committed, settled, rev, opening: openings[index] };
  });
}

/** @param ends - latest first. */
function openingOf(
  { limit, key, startMs }: Carrying,
  atMs: number,
  ends: readonly ReadEnd[],
  first: OpeningEntry | undefined,
): OpeningEntry {
  const { committed = 0, settled = 0 } = ends[0] ?? {};
  const from = replayFrom(ends, first !== undefined && first.atMs < startMs ? first : undefined);
  const carried = from.ends.reduceRight(
    (into, end) => carriedInto(limit, end.endMs, { ...end, carried: into }),
    from.carried,
  );
  return { key, carried, committed, settled, atMs };
}

/**
 * Returns the periods to replay and what had been carried into the oldest. Two idle periods leave the most that a limit
 * may carry over, whatever went before; so an older start than the last {@link PERIODS_BACK_MAX} periods is not needed.
 *
 * @param first - absent: the limit carries over for the first time. It takes what is left of the last period it counted in.
 */
function replayFrom(
  ends: readonly ReadEnd[],
  first: OpeningEntry | undefined,
): { readonly carried: number; readonly ends: readonly ReadEnd[] } {
  const opened = ends.findIndex(({ opening }) => opening !== undefined);
  const opening = ends[opened]?.opening;
  if (opening !== undefined) return { carried: opening.carried, ends: ends.slice(0, opened + 1) };
  if (first !== undefined)
    return { carried: first.carried, ends: ends.filter(({ endMs }) => first.atMs < endMs) };
  return { carried: 0, ends: ends.slice(0, ends.findIndex(({ rev }) => rev > 0) + 1) };
}
