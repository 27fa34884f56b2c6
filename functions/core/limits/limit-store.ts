/**
 * The limits in the admit function: only the roots it needs, at most five seconds old, and checked again
 * before a rejection. One per process.
 */

import { type CounterKey, type CounterSnapshot, counterName } from '../../../policies/claim.ts';
import type { Limit } from '../../../policies/limits/limit.ts';
import {
  carriedInto,
  carriesOver,
  counterOf,
  type LimitSet,
  limitPeriod,
  type Rollout,
} from '../../../policies/limits/limits.ts';
import type { Policy } from '../../../policies/policy.ts';
import type { LedgerClock, Log } from '../environment/environment.ts';
import { LedgerError } from '../store/table-failure.ts';
import {
  chunkOfRoot,
  parsedLimits,
  SHARED,
  type SharedChunk,
  unpackedLimits,
  unpackedShared,
} from './limit-set.ts';
import { LimitsError, type LimitTable, type OpeningEntry, type ReadOptions } from './limit-table.ts';

interface LimitStoreDeps {
  readonly table: LimitTable;
  readonly policy: Policy;
  readonly packed: LimitSet;
  readonly clock: Pick<LedgerClock, 'nowMs' | 'monotonicMs'>;
  readonly previous: PreviousCounters;
  readonly log: Log;
  /** Called if limits cannot be read or no longer fit the policy. @default ignored */
  readonly onUnreadable?: (() => void) | undefined;
}

/** A change of the limits is in force everywhere within this time. */
const POINTER_AGE_MS_MAX = 5_000;
/** An admission has two seconds in all, and takes the last valid limits rather than wait. */
const WITHIN_ADMISSION = { timeoutMs: 800 };

/** A set as far as it was needed. Never edited once another one is live. */
interface Loaded {
  readonly set: string;
  readonly shared: SharedChunk;
  readonly roots: Set<number>;
  limits: LimitSet;
  inForce: TimedLimits | undefined;
}

export class LimitStore {
  readonly #deps: LimitStoreDeps;
  readonly #openings = new Map<string, OpeningEntry>();
  #loaded: Loaded | undefined;
  #checkedAtMs = Number.NEGATIVE_INFINITY;
  #running: Promise<void> | undefined;
  #waiting: Promise<void> | undefined;

  constructor(deps: LimitStoreDeps) {
    this.#deps = deps;
  }

  /**
   * The limits these subjects may meet, with what was carried over; perhaps others', too.
   *
   * @param subjects - subject keys: at least `group/<root id>` of every request. Keys of the groups in between and the
   * project find limits also right after a group was moved to another root.
   * @throws {LimitsError} if the first set, or a root's part that was not needed so far, cannot be read: not to know a
   * limit is not the same as having none. What was read before stays in force.
   */
  async limitsFor(subjects: Iterable<string>): Promise<LimitSet> {
    const { clock } = this.#deps;
    if (clock.monotonicMs() - this.#checkedAtMs >= POINTER_AGE_MS_MAX) await (this.#running ?? this.#check());
    const loaded = this.#loaded;
    if (loaded === undefined) return this.#deps.packed;
    await this.#load(loaded, subjects).catch((error: unknown) => {
      this.#deps.onUnreadable?.();
      throw error;
    });
    return this.#inForce(loaded);
  }

  /**
   * Checks before a rejection if another set than `version` is live; then the job must be evaluated again.
   * Reads the pointer after the call; false if it cannot be read.
   */
  async recheck(version: string): Promise<boolean> {
    await this.#check();
    return (this.#loaded?.set ?? this.#deps.packed.version) !== version;
  }

  /** Reads the pointer, always after the call began. Concurrent callers share the next read. */
  #check(): Promise<void> {
    if (this.#running === undefined) {
      this.#running = this.#look().finally(() => {
        this.#running = undefined;
      });
      return this.#running;
    }
    const next = (): Promise<void> => {
      this.#waiting = undefined;
      return this.#check();
    };
    this.#waiting ??= this.#running.then(next, next);
    return this.#waiting;
  }

  async #look(): Promise<void> {
    const { table, clock } = this.#deps;
    const startedMs = clock.monotonicMs();
    try {
      const pointer = await table.getPointer(WITHIN_ADMISSION);
      if (pointer !== undefined && pointer.set !== this.#loaded?.set)
        this.#loaded = await this.#adopt(pointer.set);
    } catch (error) {
      this.#deps.onUnreadable?.();
      // The last valid set stays, and is looked for again after the usual time.
      if (!isExpected(error) || this.#checkedAtMs === Number.NEGATIVE_INFINITY) throw error;
      this.#deps.log.error('limits not read', { cause: error.message, set: this.#loaded?.set });
    }
    this.#checkedAtMs = startedMs;
  }

  /** Whole or not at all: every root in use is read before the new set counts. */
  async #adopt(set: string): Promise<Loaded> {
    const [bytes] = await this.#deps.table.readChunks(set, [SHARED], WITHIN_ADMISSION);
    const shared = unpackedShared(bytes);
    const limits = parsedLimits(shared.document, set, this.#deps.policy, `, ${SHARED}`);
    const loaded: Loaded = { set, shared, roots: new Set(), limits, inForce: undefined };
    const inUse = [...(this.#loaded?.roots ?? [])].map((root) => `group/${root}`);
    await this.#load(loaded, inUse);
    return loaded;
  }

  async #load(loaded: Loaded, subjects: Iterable<string>): Promise<void> {
    if (loaded.roots.size === loaded.shared.roots.size) return;
    const missing = new Set<number>();
    for (const subject of subjects) {
      const root = loaded.shared.homes[subject] ?? rootOf(subject);
      if (root !== undefined && loaded.shared.roots.has(root) && !loaded.roots.has(root)) missing.add(root);
    }
    if (missing.size === 0) return;
    const names = [...missing].map(chunkOfRoot);
    const chunks = await this.#deps.table.readChunks(loaded.set, names, WITHIN_ADMISSION);
    const parts = [...missing].map((root, index) => {
      const name = chunkOfRoot(root);
      const document = unpackedLimits(name, chunks[index]);
      return { root, part: parsedLimits(document, loaded.set, this.#deps.policy, `, ${name}`) };
    });
    for (const { root, part } of parts) {
      if (loaded.roots.has(root)) continue;
      loaded.roots.add(root);
      loaded.limits = merged(loaded.limits, part);
      loaded.inForce = undefined;
    }
  }

  async #inForce(loaded: Loaded): Promise<LimitSet> {
    const { clock, table, previous, log } = this.#deps;
    const nowMs = clock.nowMs();
    if (loaded.inForce !== undefined && nowMs < loaded.inForce.untilMs) return loaded.inForce.limits;
    const { limits } = loaded;
    try {
      const deps = { table, previous, ...WITHIN_ADMISSION };
      const inForce = await withOpenings(limits, nowMs, this.#openings, deps);
      if (loaded.limits === limits) loaded.inForce = inForce;
      return inForce.limits;
    } catch (error) {
      this.#deps.onUnreadable?.();
      if (!isExpected(error)) throw error;
      log.error('openings not read', { cause: error.message, set: loaded.set });
      return loaded.inForce?.limits ?? limits;
    }
  }
}

const isExpected = (error: unknown): error is Error =>
  error instanceof LimitsError || error instanceof LedgerError;

const rootOf = (subject: string): number | undefined => {
  const [kind, id] = subject.split('/');
  return kind === 'group' ? Number(id) : undefined;
};

const merged = (a: LimitSet, b: LimitSet): LimitSet => ({
  ...a,
  bySubject: new Map<string, readonly Limit[]>([...a.bySubject, ...b.bySubject]),
  rollouts: new Map<string, Rollout>([...a.rollouts, ...b.rollouts]),
  ...(b.freezes !== undefined && { freezes: new Map([...(a.freezes ?? []), ...b.freezes]) }),
  ...(b.breakGlasses !== undefined && { breakGlasses: [...(a.breakGlasses ?? []), ...b.breakGlasses] }),
});

/* Amounts carried into the current period. */

/** Reads counters, one per key, same order; `rev` 0: never written. `Ledger.readCounters` implements it. */
export type PreviousCounters = (
  keys: readonly CounterKey[],
) => Promise<readonly (CounterSnapshot & { readonly rev: number })[]>;

type OpeningDeps = Pick<LimitStoreDeps, 'table' | 'previous'> & ReadOptions;

interface TimedLimits {
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
  const names = new Set(carrying.map(({ name }) => name));
  for (const name of known.keys()) if (!names.has(name)) known.delete(name);
  const unknown = carrying.filter(({ name }) => !known.has(name));
  const provisional = await open(unknown, nowMs, known, deps);
  const opened = new Map(
    carrying.map(({ limit, key, name }) => {
      const carried = (known.get(name) ?? provisional.get(name))?.carried ?? 0;
      return [limit, { ...limit, opening: { period: key.period, carried } }];
    }),
  );
  const bySubject = new Map(
    [...limits.bySubject].map(([subject, all]) => [subject, all.map((each) => opened.get(each) ?? each)]),
  );
  const ends = carrying.map(({ endMs }) => endMs);
  const untilMs = provisional.size > 0 ? nowMs + AGAIN_MS : Number.POSITIVE_INFINITY;
  return { limits: { ...limits, bySubject }, untilMs: ends.reduce((a, b) => Math.min(a, b), untilMs) };
}

type Carrying = ReturnType<typeof carryingOf>[number];

function carryingOf(limit: Limit, nowMs: number) {
  if (!carriesOver(limit)) return [];
  const period = limitPeriod(limit, nowMs);
  if (period === undefined) return [];
  const key = counterOf(limit, nowMs);
  return [{ limit, key, name: counterName(key), startMs: period.startMs, endMs: period.endMs }];
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
  const [stored, firsts, before] = await Promise.all([
    table.readOpenings(keys, { timeoutMs }),
    table.readOpenings(keys.map(firstOf), { timeoutMs }),
    readEnds(carrying, 1, deps),
  ]);
  const unopened = carrying.filter(
    (_, index) => stored[index] === undefined && before[index]?.opening === undefined,
  );
  const earlier = await readEnds(unopened, PERIODS_BACK_MAX, deps);
  for (const [index, each] of carrying.entries()) {
    const { name } = each;
    const there = stored[index];
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

/** Latest first. `endMs`: the period after it began, Unix ms. */
function earlierPeriods({ limit, startMs }: Carrying, count: number) {
  const periods: { readonly key: CounterKey; readonly endMs: number }[] = [];
  for (let endMs = startMs; periods.length < count; ) {
    periods.push({ key: counterOf(limit, endMs - 1), endMs });
    endMs = limitPeriod(limit, endMs - 1)?.startMs ?? endMs;
  }
  return periods;
}

type ReadEnd = Awaited<ReturnType<typeof readEnds>>[number];

/** `rev` 0: no job was ever counted in the period. */
async function readEnds(
  carrying: readonly Carrying[],
  count: number,
  { table, previous, timeoutMs }: OpeningDeps,
) {
  if (carrying.length === 0) return [];
  const periods = carrying.flatMap((each) => earlierPeriods(each, count));
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
