/** How counters stand, read in parts: the overview orders thousands of groups by theirs. Keep one per process. */
import { type CounterKey, counterName } from '../../../policies/claim.ts';
import { keepLatest } from '../../../policies/keep-latest.ts';
import type { CounterSheet, CounterSheetStore } from '../../core/books/index.ts';
import { type Counter, isSummed, type Ledger, NO_AMOUNTS } from '../../core/ledger/index.ts';

export type CountersByName = ReadonlyMap<string, Counter>;

export interface CurrentCounters {
  /** As they stand now. @throws {LedgerError} */
  fresh(keys: readonly CounterKey[]): Promise<CountersByName>;
  /** Not older than that; what is not known yet is read. Many of them at once come from the sheet of counters, which is older. */
  recent(keys: readonly CounterKey[], ageMsMax: number): Promise<RecentCounters>;
}

interface RecentCounters {
  readonly counters: CountersByName;
  /** When the oldest of them was read, Unix ms. */
  readonly sinceMs: number;
  /** Some are copies: whoever leads by them is to be looked at as it stands. */
  readonly isCopied: boolean;
}

/** Ranks by counters that are known; where some are copies, those that lead are read as they stand, and ranked again. @throws {LedgerError} */
export async function rankedNow<Ranked>(
  { counters, isCopied }: Pick<RecentCounters, 'counters' | 'isCopied'>,
  kept: Pick<CurrentCounters, 'fresh'>,
  rank: (counters: CountersByName) => Ranked,
  leadingKeys: (ranked: Ranked) => readonly CounterKey[],
): Promise<Ranked> {
  const ranked = rank(counters);
  if (!isCopied) return ranked;
  return rank(new Map([...counters, ...(await kept.fresh(leadingKeys(ranked)))]));
}

/** Twenty requests of a hundred keys at once. */
const PART_KEYS = 2_000;
/** Some 20 MB. What was read longest ago is read anew beyond it. */
const REMEMBERED_MAX = 100_000;

/** Ten requests of a hundred keys: as many are read one by one, and are as they stand now. */
const FROM_SHEET_MIN = 1_000;
/** It is written every quarter of an hour, and a run may fail. */
const SHEET_AGE_MS_MAX = 45 * 60_000;
const SHEET_KEPT_MS = 60_000;

interface CountersNowDeps {
  readonly ledger: Pick<Ledger, 'readCounters'>;
  readonly clock: { nowMs(): number };
  /** @default every counter is read by itself */
  readonly counterSheet?: Pick<CounterSheetStore, 'read'>;
}

export function countersNow({ ledger, clock, counterSheet }: CountersNowDeps): CurrentCounters {
  let kept: { readonly sheet: CounterSheet | undefined; readonly atMs: number } | undefined;
  const sheetNow = async (): Promise<CounterSheet | undefined> => {
    const nowMs = clock.nowMs();
    if (kept === undefined || nowMs - kept.atMs >= SHEET_KEPT_MS)
      kept = { sheet: await counterSheet?.read(), atMs: nowMs };
    const { sheet } = kept;
    return sheet?.whole === true && nowMs - sheet.atMs <= SHEET_AGE_MS_MAX ? sheet : undefined;
  };
  const remembered = new Map<string, { readonly counter: Counter; readonly atMs: number }>();

  async function fresh(keys: readonly CounterKey[]): Promise<CountersByName> {
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
      let missing: CounterKey[] = [];
      let sinceMs = nowMs;
      // An overview has tens of thousands of keys: the name of each is built once.
      for (const key of keys) {
        const name = counterName(key);
        const known = remembered.get(name);
        if (known === undefined || known.atMs <= nowMs - ageMsMax) {
          missing.push(key);
          continue;
        }
        counters.set(name, known.counter);
        sinceMs = Math.min(sinceMs, known.atMs);
      }
      const sheet = missing.length < FROM_SHEET_MIN ? undefined : await sheetNow();
      if (sheet !== undefined) {
        sinceMs = Math.min(sinceMs, sheet.atMs);
        for (const key of missing) {
          const name = counterName(key);
          if (isSummed(key)) counters.set(name, sheet.counters.get(name) ?? { key, ...NO_AMOUNTS, rev: 0 });
        }
        missing = missing.filter((key) => !isSummed(key));
      }
      if (missing.length > 0) {
        const read = await fresh(missing);
        for (const [name, counter] of read) {
          keepLatest(remembered, name, { counter, atMs: nowMs }, REMEMBERED_MAX);
          counters.set(name, counter);
        }
      }
      return { counters, sinceMs, isCopied: sheet !== undefined };
    },
  };
}
