import { writeUnits } from '../../../functions/core/ledger/items.ts';
import type { LedgerStore, Write } from '../../../functions/core/ledger/store.ts';
import { ledgerKeys } from '../../../functions/core/store/keys.ts';

export type StoreCounts = ReturnType<typeof countingStore>['counts'];

export function countingStore(
  store: LedgerStore,
  instance: string,
  onTransaction?: (writes: readonly Write[]) => void,
) {
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
    onTransaction?.(writes);
    return answer;
  };
  return { ...storeWith(store, { transact }), counts };
}

const storeWith = (store: LedgerStore, own: Partial<LedgerStore>): LedgerStore => ({
  transact: (writes, options) => store.transact(writes, options),
  readCounters: (wanted, options) => store.readCounters(wanted, options),
  readRecords: (jobIds, options) => store.readRecords(jobIds, options),
  readEntries: (jobId, options) => store.readEntries(jobId, options),
  scan: () => store.scan(),
  due: (shard, beforeMs, limit, options) => store.due(shard, beforeMs, limit, options),
  announce: (announcement, options) => store.announce(announcement, options),
  ...own,
});
