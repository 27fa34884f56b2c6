import { type JobRecord, type LedgerStore, namesNeedlessly, type StoredItem } from '../core/ledger/index.ts';

interface KeptFromScan<Kept> {
  readonly scan: LedgerStore['scan'];
  readonly kept: () => readonly Kept[];
  /** How many found no room. */
  readonly leftOut: () => number;
}

/**
 * Keeps something of the records that the first scan of `table` meets, for a scan that is made anyhow.
 *
 * @param pick - what is kept of a record; undefined: nothing
 * @param max - how much there is room for
 */
function keptFromScan<Kept>(
  table: Pick<LedgerStore, 'scan'>,
  pick: (record: JobRecord) => Kept | undefined,
  max: number,
): KeptFromScan<Kept> {
  const kept: Kept[] = [];
  let leftOut = 0;
  let scans = 0;
  async function* scan(consistency?: Parameters<LedgerStore['scan']>[0]): AsyncGenerator<StoredItem> {
    scans += 1;
    const isFirst = scans === 1;
    for await (const item of table.scan(consistency)) {
      const picked = isFirst && item.kind === 'record' ? pick(item.record) : undefined;
      if (picked !== undefined) {
        if (kept.length < max) kept.push(picked);
        else leftOut += 1;
      }
      yield item;
    }
  }
  return { scan, kept: () => kept, leftOut: () => leftOut };
}

/** A day's jobs of a large instance; eight bytes each. What is more than this is found the next night. */
const JOBS_MAX = 200_000;

interface AgedRecords {
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

/** Some 1 KB each. What is more than this is left to `tollgate rebuild --usage`. */
const RECORDS_MAX = 200_000;

interface RecentRecords {
  /** The same table, whose first scan shows them on the way. */
  readonly store: LedgerStore;
  /** Records of jobs that were decided or ended since, as that scan found them. */
  readonly records: () => readonly JobRecord[];
  /** How many found no room. */
  readonly leftOut: () => number;
}

/** Keeps the records of recent jobs from a scan that is made anyhow. @param sinceMs - Unix ms @param scanned - whose scan it is */
export function collectRecentRecords(
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
