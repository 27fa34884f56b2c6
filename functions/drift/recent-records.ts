import type { JobRecord } from '../core/ledger/ledger.ts';
import type { LedgerStore } from '../core/ledger/store.ts';
import { keptFromScan } from './kept-from-scan.ts';

/** Some 1 KB each. What is more than this is left to `tollgate rebuild --usage`. */
const RECORDS_MAX = 200_000;

export interface RecentRecords {
  /** The same table, whose first scan shows them on the way. */
  readonly store: LedgerStore;
  /** Records of jobs that were decided or ended since, as that scan found them. */
  readonly records: () => readonly JobRecord[];
  /** How many found no room. */
  readonly leftOut: () => number;
}

/** Keeps the records of recent jobs from a scan that is made anyhow. @param sinceMs - Unix ms @param scanned - whose scan it is */
export function recentRecords(
  table: LedgerStore,
  sinceMs: number,
  scanned: Pick<LedgerStore, 'scan'> = table,
): RecentRecords {
  const isRecent = ({ decidedAtMs, endedAtMs = 0 }: JobRecord): boolean =>
    decidedAtMs >= sinceMs || endedAtMs >= sinceMs;
  const { scan, kept, leftOut } = keptFromScan(
    scanned,
    (record) => (isRecent(record) ? record : undefined),
    RECORDS_MAX,
  );
  return {
    store: {
      transact: (writes, options) => table.transact(writes, options),
      announce: (announcement, options) => table.announce(announcement, options),
      readCounters: (keys, options) => table.readCounters(keys, options),
      readRecords: (jobIds, options) => table.readRecords(jobIds, options),
      readEntries: (jobId, options) => table.readEntries(jobId, options),
      due: (shard, beforeMs, limit, options) => table.due(shard, beforeMs, limit, options),
      scan,
    },
    records: kept,
    leftOut,
  };
}
