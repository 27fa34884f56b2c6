/** Reads counters in parts, e.g. to order thousands of groups. Keep one per process. */
import { type CounterKey, counterName } from '../../../policies/claim.ts';
import { HOUR_MS } from '../../../policies/limits/calendar.ts';
import type { Counter, Ledger } from '../../core/ledger/ledger.ts';
import { readInParts } from '../../core/store/parts.ts';
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

export type CurrentCounters = ReturnType<typeof countersNow>;

/** Looks into both maps: copying thousands of counters would take longer. */
export const layered = (first: CountersByName, second: CountersByName): CountersByName => ({
  get: (name) => first.get(name) ?? second.get(name),
});

/** Ten requests of a hundred keys: fewer counters are read fresh. */
const FROM_SNAPSHOT_MIN = 1_000;
/** It is written every hour, and a run may fail. */
const SNAPSHOT_AGE_MS_MAX = 2.5 * HOUR_MS;
const SNAPSHOT_CACHED_MS = 60_000;

interface CountersSource {
  readonly ledger: Pick<Ledger, 'readCounters'>;
  readonly clock: { nowMs(): number };
  readonly counterSnapshots?: Pick<CounterSnapshots, 'read'>;
}

export function countersNow({ ledger, clock, counterSnapshots }: CountersSource) {
  let cached: { readonly snapshot: CounterSnapshot | undefined; readonly atMs: number } | undefined;
  const snapshotNow = async (): Promise<CounterSnapshot | undefined> => {
    const nowMs = clock.nowMs();
    if (cached === undefined || nowMs - cached.atMs >= SNAPSHOT_CACHED_MS)
      cached = { snapshot: await counterSnapshots?.read(), atMs: nowMs };
    const { snapshot } = cached;
    return snapshot?.complete === true && nowMs - snapshot.atMs <= SNAPSHOT_AGE_MS_MAX ? snapshot : undefined;
  };
  /** Reads counters as they are now. @throws {LedgerError} */
  async function fresh(keys: readonly CounterKey[]): Promise<ReadonlyMap<string, Counter>> {
    const distinct = [...new Map(keys.map((key) => [counterName(key), key])).values()];
    const found = await readInParts(distinct, (some) => ledger.readCounters(some));
    return new Map(found.map((counter) => [counterName(counter.key), counter]));
  }
  return {
    fresh,
    /** Reads large sets from the snapshot, which is up to an hour old. If `isCopied`, read those that matter again. */
    async recent(keys: readonly (CounterKey | NamedKey)[]) {
      const snapshot = keys.length < FROM_SNAPSHOT_MIN ? undefined : await snapshotNow();
      if (snapshot === undefined) {
        const counters: CountersByName = await fresh(keys);
        return { counters, isCopied: false };
      }
      // A counter that a complete snapshot should have and lacks was never used.
      const nameOf = (key: CounterKey | NamedKey) => ('name' in key ? key.name : counterName(key));
      const missing = keys.filter((key) => !snapshot.counters.has(nameOf(key)) && !isInSnapshot(key));
      return { counters: layered(await fresh(missing), snapshot.counters), isCopied: true };
    },
  };
}
