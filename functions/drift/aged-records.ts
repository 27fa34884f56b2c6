import type { LedgerStore } from '../core/ledger/store.ts';
import { namesNeedlessly } from '../core/ledger/user-ids.ts';
import { keptFromScan } from './kept-from-scan.ts';

/** A day's jobs of a large instance; eight bytes each. What is more than this is found the next night. */
const JOBS_MAX = 200_000;

export interface AgedRecords {
  /** The same table, whose first scan shows them on the way. */
  readonly store: Pick<LedgerStore, 'scan'>;
  /** Ids of the jobs whose records name a user and need not any more, as that scan found them. */
  readonly jobIds: () => readonly number[];
  /** How many found no room. */
  readonly leftOut: () => number;
}

/** @param nowMs - Unix ms */
export function agedRecords(table: Pick<LedgerStore, 'scan'>, nowMs: number): AgedRecords {
  const { scan, kept, leftOut } = keptFromScan(
    table,
    (record) => (namesNeedlessly(record, nowMs) ? record.jobId : undefined),
    JOBS_MAX,
  );
  return { store: { scan }, jobIds: kept, leftOut };
}
