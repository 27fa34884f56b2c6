/** Reads counters in parts, e.g. to order thousands of groups. Keep one per process. */
import { type CounterKey, counterName } from '../../../policies/claim.ts';
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
  /** Large sets come from the snapshot of counters, which is up to an hour old. */
  recent(keys: readonly (CounterKey | NamedKey)[]): Promise<RecentCounters>;
}

interface RecentCounters {
  readonly counters: CountersByName;
  /** Some are from the snapshot: read those that matter again. */
  readonly isCopied: boolean;
}

/** Looks into both maps: copying thousands of counters would take longer. */
export const layered = (first: CountersByName, second: CountersByName): CountersByName => ({
  get: (name) => first.get(name) ?? second.get(name),
});

const PART_KEYS = 2_000;

/** Ten requests of a hundred keys: fewer counters are read fresh. */
const FROM_SNAPSHOT_MIN = 1_000;
/** It is written every hour, and a run may fail. */
const SNAPSHOT_AGE_MS_MAX = 2.5 * HOUR_MS;
const SNAPSHOT_KEPT_MS = 60_000;

interface CountersSource {
  readonly ledger: Pick<Ledger, 'readCounters'>;
  readonly clock: { nowMs(): number };
  readonly counterSnapshots?: Pick<CounterSnapshots, 'read'>;
}

export function countersNow({ ledger, clock, counterSnapshots }: CountersSource): CurrentCounters {
  let kept: { readonly snapshot: CounterSnapshot | undefined; readonly atMs: number } | undefined;
  const snapshotNow = async (): Promise<CounterSnapshot | undefined> => {
    const nowMs = clock.nowMs();
    if (kept === undefined || nowMs - kept.atMs >= SNAPSHOT_KEPT_MS)
      kept = { snapshot: await counterSnapshots?.read(), atMs: nowMs };
    const { snapshot } = kept;
    return snapshot?.complete === true && nowMs - snapshot.atMs <= SNAPSHOT_AGE_MS_MAX ? snapshot : undefined;
  };
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
    async recent(keys) {
      const snapshot = keys.length < FROM_SNAPSHOT_MIN ? undefined : await snapshotNow();
      if (snapshot === undefined) return { counters: await fresh(keys), isCopied: false };
      // A counter that a complete snapshot should have and lacks was never used.
      const nameOf = (key: CounterKey | NamedKey) => ('name' in key ? key.name : counterName(key));
      const missing = keys.filter((key) => !snapshot.counters.has(nameOf(key)) && !isInSnapshot(key));
      return { counters: layered(await fresh(missing), snapshot.counters), isCopied: true };
    },
  };
}
