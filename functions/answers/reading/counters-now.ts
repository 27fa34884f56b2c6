/** Reads counters in parts, e.g. to order thousands of groups. Keep one per process. */
import { type CounterKey, counterName } from '../../../policies/claim.ts';
import { keepLatest } from '../../../policies/keep-latest.ts';
import { HOUR_MS } from '../../../policies/limits/calendar.ts';
import type { Counter, Ledger } from '../../core/ledger/ledger.ts';
import {
  type CounterSnapshot,
  type CounterSnapshots,
  isInSnapshot,
} from '../../core/usage/counter-snapshot.ts';

/** Keyed by `counterName`; counters without use may be missing. */
export type CountersByName = Pick<ReadonlyMap<string, Counter>, 'get'>;

/** A key with its name: an overview has tens of thousands. */
export interface NamedKey extends CounterKey {
  readonly name: string;
}

export interface CurrentCounters {
  /** As they are now. @throws {LedgerError} */
  fresh(keys: readonly CounterKey[]): Promise<ReadonlyMap<string, Counter>>;
  /** Returns counters up to this age; others are read. Large sets come from the older snapshot of counters. */
  recent(keys: readonly (CounterKey | NamedKey)[], ageMsMax: number): Promise<RecentCounters>;
}

interface RecentCounters {
  readonly counters: CountersByName;
  /** Time of the oldest read, Unix ms. */
  readonly sinceMs: number;
  /** Some are from the snapshot: read the leaders again. */
  readonly isCopied: boolean;
}

interface RankOrder<Each, Level> {
  readonly levelOf: (counters: CountersByName) => (each: Each) => Level;
  readonly compare: (a: Level, b: Level) => number;
  /** Counters of its level; no other entry uses them. */
  readonly keysOf: (each: Each) => readonly CounterKey[];
  /** Number of leaders that are read fresh. */
  readonly leadingMax: number;
}

/** Ranks by counters, stable. If counters are copies, those of the leaders are read and ranked again. @throws {LedgerError} */
export async function rankedNow<Each, Level>(
  all: readonly Each[],
  { counters, isCopied }: Pick<RecentCounters, 'counters' | 'isCopied'>,
  kept: Pick<CurrentCounters, 'fresh'>,
  { levelOf, compare, keysOf, leadingMax }: RankOrder<Each, Level>,
): Promise<readonly { readonly each: Each; readonly level: Level }[]> {
  const ranked = (some: readonly Each[], by: CountersByName) => {
    const level = levelOf(by);
    return some.map((each) => ({ each, level: level(each) })).sort((a, b) => compare(a.level, b.level));
  };
  const first = ranked(all, counters);
  if (!isCopied) return first;
  const leaders = first.slice(0, leadingMax).map(({ each }) => each);
  const now = layered(await kept.fresh(leaders.flatMap(keysOf)), counters);
  return [...ranked(leaders, now), ...first.slice(leadingMax)].sort((a, b) => compare(a.level, b.level));
}

/** Looks into both maps: copying thousands of counters would take longer. */
const layered = (first: CountersByName, second: CountersByName): CountersByName => ({
  get: (name) => first.get(name) ?? second.get(name),
});

/** Twenty parallel requests of a hundred keys. */
const PART_KEYS = 2_000;
/** About 20 MB; above it the oldest are read again. */
const REMEMBERED_MAX = 100_000;

/** Ten requests of a hundred keys: fewer counters are read fresh. */
const FROM_SNAPSHOT_MIN = 1_000;
/** It is written every hour, and a run may fail. */
const SNAPSHOT_AGE_MS_MAX = 2.5 * HOUR_MS;
const SNAPSHOT_KEPT_MS = 60_000;

interface CountersNowDeps {
  readonly ledger: Pick<Ledger, 'readCounters'>;
  readonly clock: { nowMs(): number };
  /** @default every counter is read on its own */
  readonly counterSnapshots?: Pick<CounterSnapshots, 'read'>;
}

export function countersNow({ ledger, clock, counterSnapshots }: CountersNowDeps): CurrentCounters {
  let kept: { readonly snapshot: CounterSnapshot | undefined; readonly atMs: number } | undefined;
  const snapshotNow = async (): Promise<CounterSnapshot | undefined> => {
    const nowMs = clock.nowMs();
    if (kept === undefined || nowMs - kept.atMs >= SNAPSHOT_KEPT_MS)
      kept = { snapshot: await counterSnapshots?.read(), atMs: nowMs };
    const { snapshot } = kept;
    return snapshot?.complete === true && nowMs - snapshot.atMs <= SNAPSHOT_AGE_MS_MAX ? snapshot : undefined;
  };
  const remembered = new Map<string, { readonly counter: Counter; readonly atMs: number }>();

  async function fresh(keys: readonly CounterKey[]): Promise<ReadonlyMap<string, Counter>> {
    const distinct = [...new Map(keys.map((key) => [counterName(key), key])).values()];
    const found = new Map<string, Counter>();
    for (let start = 0; start < distinct.length; start += PART_KEYS) {
      const part = await ledger.readCounters(distinct.slice(start, start + PART_KEYS));
      for (const counter of part) found.set(counterName(counter.key), counter);
    }
    return found;
  }

  return {
    fresh,
    async recent(keys, ageMsMax) {
      const nowMs = clock.nowMs();
      const counters = new Map<string, Counter>();
      let missing: { readonly key: CounterKey; readonly name: string }[] = [];
      let sinceMs = nowMs;
      for (const key of keys) {
        const name = 'name' in key ? key.name : counterName(key);
        const known = remembered.get(name);
        if (known === undefined || known.atMs <= nowMs - ageMsMax) {
          missing.push({ key, name });
          continue;
        }
        counters.set(name, known.counter);
        sinceMs = Math.min(sinceMs, known.atMs);
      }
      const snapshot = missing.length < FROM_SNAPSHOT_MIN ? undefined : await snapshotNow();
      if (snapshot !== undefined) {
        sinceMs = Math.min(sinceMs, snapshot.atMs);
        // A counter that a complete snapshot should have and lacks was never used.
        missing = missing.filter(({ key, name }) => !snapshot.counters.has(name) && !isInSnapshot(key));
      }
      if (missing.length > 0) {
        const read = await fresh(missing.map(({ key }) => key));
        for (const [name, counter] of read) {
          keepLatest(remembered, name, { counter, atMs: nowMs }, REMEMBERED_MAX);
          counters.set(name, counter);
        }
      }
      return {
        counters: snapshot === undefined ? counters : layered(counters, snapshot.counters),
        sinceMs,
        isCopied: snapshot !== undefined,
      };
    },
  };
}
