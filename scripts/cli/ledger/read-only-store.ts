import type { LedgerStore } from '../../../functions/core/ledger/index.ts';
import { LedgerError } from '../../../functions/core/store/index.ts';

/** The same table to read from. A desk that wrote to it would be a defect, and is stopped before the table hears of it. */
export function readOnly(store: LedgerStore): LedgerStore {
  const refuse = async (): Promise<never> => {
    throw new LedgerError('ledger_misuse', 'the desk reads the ledger and never writes to it');
  };
  return {
    transact: refuse,
    announce: refuse,
    readCounters: (keys, options) => store.readCounters(keys, options),
    readRecords: (jobIds, options) => store.readRecords(jobIds, options),
    readEntries: (jobId, options) => store.readEntries(jobId, options),
    scan: (consistency) => store.scan(consistency),
    due: (shard, beforeMs, limit, options) => store.due(shard, beforeMs, limit, options),
  };
}
