/** The table with records and due jobs read from the books, which have them at hand. */
import type { DueJob } from '../../functions/core/ledger/ledger.ts';
import type { MemoryStore, StoreFault, StoreOperation } from '../../functions/core/ledger/memory-store.ts';
import type { InboxStore, LedgerStore } from '../../functions/core/ledger/store.ts';
import type { Books } from './books.ts';

export function quickReads(
  store: MemoryStore,
  { records, due }: Books,
  fault: (operation: StoreOperation) => StoreFault | undefined,
): LedgerStore & InboxStore {
  return {
    transact: (...asked) => store.transact(...asked),
    readCounters: (...asked) => store.readCounters(...asked),
    readEntries: (...asked) => store.readEntries(...asked),
    scan: () => store.scan(),
    announce: (...asked) => store.announce(...asked),
    receive: (...asked) => store.receive(...asked),
    readRecords: async (jobIds, options) =>
      fault('readRecords') === undefined
        ? jobIds.map((jobId) => records.get(jobId))
        : store.readRecords(jobIds, options),
    due: async (shard, beforeMs, limit) => {
      const found: DueJob[] = [];
      const { duePk, dueShardPk } = store.keys;
      for (const [jobId, dueAtMs] of due)
        if (dueAtMs < beforeMs && duePk(jobId) === dueShardPk(shard)) found.push({ jobId, dueAtMs });
      return found.sort((a, b) => a.dueAtMs - b.dueAtMs).slice(0, limit);
    },
  };
}
