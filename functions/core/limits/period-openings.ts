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

/** Reads two items per period and limit, once per period, and only if nothing is known of the period before. */
const PERIODS_BACK_MAX = 12;

/**
 * Puts its opening on each limit that carries over. Idle periods have no counter, and no opening if no program asked for
 * their limits: they carry over what they had. A limit without either in the last twelve periods is new and begins with nothing.
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
  const [standing, before] = await Promise.all([
    table.readOpenings(
      carrying.map(({ key }) => key),
      { timeoutMs },
    ),
    readEnds(
      carrying.flatMap((each) => earlierPeriods(each, 1)),
      deps,
    ),
  ]);
  const unknown = carrying.filter((_, index) => standing[index] === undefined && !before[index]?.isKnown);
  const earlier = await readEnds(
    unknown.flatMap((each) => earlierPeriods(each, PERIODS_BACK_MAX)),
    deps,
  );
  for (const [index, each] of carrying.entries()) {
    const name = counterName(each.key);
    const there = standing[index];
    if (there !== undefined) {
      known.set(name, there);
      continue;
    }
    const first = unknown.indexOf(each) * PERIODS_BACK_MAX;
    const ends = first < 0 ? before.slice(index, index + 1) : earlier.slice(first, first + PERIODS_BACK_MAX);
    const entry = openingOf(each, nowMs, ends);
    if (nowMs < each.startMs + SETTLING_MS) provisional.set(name, entry);
    else known.set(name, await table.putOpening(entry, { timeoutMs }));
  }
  return provisional;
}

/** A period before the one that is open now. */
interface EarlierPeriod {
  readonly key: CounterKey;
  /** When the period after it began, Unix ms. */
  readonly endMs: number;
}

/** The last `count` periods, latest first. */
function earlierPeriods({ limit, startMs }: Carrying, count: number): readonly EarlierPeriod[] {
  const periods: EarlierPeriod[] = [];
  for (let endMs = startMs; periods.length < count; ) {
    periods.push({ key: counterOf(limit, endMs - 1), endMs });
    endMs = limitPeriod(limit, endMs - 1)?.startMs ?? endMs;
  }
  return periods;
}

interface ReadEnd extends EarlierPeriod, CounterSnapshot {
  readonly carried: number;
  /** Jobs counted in it, or a program asked for its opening. */
  readonly isKnown: boolean;
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
    const opening = openings[index];
    const isKnown = rev > 0 || opening !== undefined;
    return { ...period, committed, settled, carried: opening?.carried ?? 0, isKnown };
  });
}

/** @param ends - latest first; periods after the last known one were idle, and each carries over what it had. */
function openingOf({ limit, key }: Carrying, atMs: number, ends: readonly ReadEnd[]): OpeningEntry {
  const { committed = 0, settled = 0 } = ends[0] ?? {};
  const known = ends.slice(0, ends.findIndex(({ isKnown }) => isKnown) + 1);
  const carried = known.reduceRight<number | undefined>(
    (into, end) => carriedInto(limit, end.endMs, { ...end, carried: into ?? end.carried }),
    undefined,
  );
  return { key, carried: carried ?? 0, committed, settled, atMs };
}
