import type { LedgerStore, StoredItem } from '../ledger/store.ts';
import { namesNeedlessly } from '../ledger/user-ids.ts';

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

/** Finds them on a scan that is made anyhow. @param nowMs - Unix ms */
export function agedRecords(table: Pick<LedgerStore, 'scan'>, nowMs: number): AgedRecords {
  const jobIds: number[] = [];
  let leftOut = 0;
  let scans = 0;
  async function* scan(consistency?: Parameters<LedgerStore['scan']>[0]): AsyncGenerator<StoredItem> {
    scans += 1;
    const isFirst = scans === 1;
    for await (const item of table.scan(consistency)) {
      if (isFirst && item.kind === 'record' && namesNeedlessly(item.record, nowMs)) {
        if (jobIds.length < JOBS_MAX) jobIds.push(item.record.jobId);
        else leftOut += 1;
      }
      yield item;
    }
  }
  return { store: { scan }, jobIds: () => jobIds, leftOut: () => leftOut };
}
