import {
  type LedgerStore,
  type TransactOutcome,
  type Write,
  writeUnits,
} from '../../../functions/core/ledger/index.ts';
import { type LedgerKeys, ledgerKeys } from '../../../functions/core/store/index.ts';

export interface StoreCounts {
  transactions: number;
  committed: number;
  refused: number;
  conflicts: number;
  throttles: number;
  /** Transactions that ended without an answer. Their units are not counted. */
  unanswered: number;
  /** Computed by formula, failed transactions included. */
  tableUnits: number;
  indexUnits: number;
  /** Items read consistently. */
  itemsRead: number;
}

export interface CountingStore extends LedgerStore {
  readonly counts: StoreCounts;
}

/**
 * The same store, counted: exact figures that no machine's speed can change.
 *
 * @param onTransaction - called after every answered transaction.
 */
export function countingStore(
  store: LedgerStore,
  instance: string,
  onTransaction?: (writes: readonly Write[], outcome: TransactOutcome) => void,
): CountingStore {
  const keys: LedgerKeys = ledgerKeys(instance);
  const counts: StoreCounts = {
    transactions: 0,
    committed: 0,
    refused: 0,
    conflicts: 0,
    throttles: 0,
    unanswered: 0,
    tableUnits: 0,
    indexUnits: 0,
    itemsRead: 0,
  };
  const tally = {
    committed: 'committed',
    refused: 'refused',
    conflict: 'conflicts',
    throttled: 'throttles',
  } as const;
  return {
    counts,
    async transact(writes, options) {
      counts.transactions += 1;
      counts.unanswered += 1;
      const answer = await store.transact(writes, options);
      counts.unanswered -= 1;
      counts[tally[answer.outcome]] += 1;
      const units = writeUnits(writes, answer.outcome, keys);
      counts.tableUnits += units.table;
      counts.indexUnits += units.index;
      onTransaction?.(writes, answer);
      return answer;
    },
    readCounters(wanted, options) {
      counts.itemsRead += wanted.length;
      return store.readCounters(wanted, options);
    },
    readRecords(jobIds, options) {
      counts.itemsRead += jobIds.length;
      return store.readRecords(jobIds, options);
    },
    readEntries: (jobId, options) => store.readEntries(jobId, options),
    scan: () => store.scan(),
    due: (shard, beforeMs, limit, options) => store.due(shard, beforeMs, limit, options),
    announce: (announcement, options) => store.announce(announcement, options),
  };
}
