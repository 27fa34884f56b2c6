import { writeUnits } from '../../../functions/core/ledger/items.ts';
import type { LedgerStore } from '../../../functions/core/ledger/store.ts';
import { ledgerKeys } from '../../../functions/core/store/keys.ts';

export function countingStore(store: LedgerStore, instance: string) {
  const keys = ledgerKeys(instance);
  const counts = { transactions: 0, refused: 0, conflicts: 0, throttles: 0, tableUnits: 0, indexUnits: 0 };
  const transact: LedgerStore['transact'] = async (writes, options) => {
    counts.transactions += 1;
    const answer = await store.transact(writes, options);
    if (answer.outcome === 'refused') counts.refused += 1;
    if (answer.outcome === 'conflict') counts.conflicts += 1;
    if (answer.outcome === 'throttled') counts.throttles += 1;
    const units = writeUnits(writes, answer.outcome, keys);
    counts.tableUnits += units.table;
    counts.indexUnits += units.index;
    return answer;
  };
  const perJob = (jobs: number) => ({
    unitsPerJob: (counts.tableUnits + counts.indexUnits) / jobs,
    conflictsPerJob: counts.conflicts / jobs,
    throttlesPerJob: counts.throttles / jobs,
  });
  return storeWith(store, { transact, counts, perJob });
}

const METHODS = [
  'transact',
  'readCounters',
  'readRecords',
  'readEntries',
  'scan',
  'due',
  'announce',
] as const;

/** A store with other or more members. Methods of a class are lost when its instance is spread. */
export const storeWith = <Own extends object>(store: LedgerStore, own: Own): LedgerStore & Own => ({
  ...(Object.fromEntries(METHODS.map((name) => [name, store[name].bind(store)])) as unknown as LedgerStore),
  ...own,
});
