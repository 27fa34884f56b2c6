import { writeUnits } from '../../../functions/core/ledger/items.ts';
import type { LedgerStore, TransactOutcome, Write } from '../../../functions/core/ledger/store.ts';
import { ledgerKeys } from '../../../functions/core/store/keys.ts';

export type StoreCounts = ReturnType<typeof noCounts>;

const noCounts = () => ({
  ...{ transactions: 0, committed: 0, refused: 0, conflicts: 0, throttles: 0 },
  /** Write units by formula, failed transactions included. */
  ...{ tableUnits: 0, indexUnits: 0 },
});

/**
 * Counts the operations of a store: exact figures that do not depend on the machine's speed.
 *
 * @param onTransaction - called after every answered transaction.
 */
export function countingStore(
  store: LedgerStore,
  instance: string,
  onTransaction?: (writes: readonly Write[], outcome: TransactOutcome) => void,
): LedgerStore & { readonly counts: StoreCounts } {
  const keys = ledgerKeys(instance);
  const counts = noCounts();
  return {
    counts,
    async transact(writes, options) {
      counts.transactions += 1;
      const answer = await store.transact(writes, options);
      if (answer.outcome === 'committed') counts.committed += 1;
      if (answer.outcome === 'refused') counts.refused += 1;
      if (answer.outcome === 'conflict') counts.conflicts += 1;
      if (answer.outcome === 'throttled') counts.throttles += 1;
      const units = writeUnits(writes, answer.outcome, keys);
      counts.tableUnits += units.table;
      counts.indexUnits += units.index;
      onTransaction?.(writes, answer);
      return answer;
    },
    readCounters: (wanted, options) => store.readCounters(wanted, options),
    readRecords: (jobIds, options) => store.readRecords(jobIds, options),
    readEntries: (jobId, options) => store.readEntries(jobId, options),
    scan: () => store.scan(),
    due: (shard, beforeMs, limit, options) => store.due(shard, beforeMs, limit, options),
    announce: (announcement, options) => store.announce(announcement, options),
  };
}
