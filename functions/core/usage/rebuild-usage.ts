import type { StoredItem } from '../ledger/index.ts';
import { type CountRecordsDeps, countRecords } from './count-records.ts';

export interface UsageRebuild {
  readonly records: number;
  /** Jobs whose usage was corrected. */
  readonly changed: number;
  /** Jobs that could not be counted in time: run it again. */
  readonly failed: number;
  /** Items that a newer program wrote, in a kind or form not known here. */
  readonly passedOver: number;
}

/** As many as a stream's batch. */
const BATCH_RECORDS = 100;

/**
 * Counts every record once more: what the stream never delivered is added, everything else stays. It may run while the
 * stream does, since both go the same way. Usage of days whose records garbage collection has taken stays as it is.
 *
 * @param items - of the ledger's `scan()`.
 */
export async function rebuildUsage(
  items: AsyncIterable<StoredItem> | Iterable<StoredItem>,
  deps: CountRecordsDeps,
): Promise<UsageRebuild> {
  const sum = { records: 0, changed: 0, failed: 0, passedOver: 0 };
  let batch: Extract<StoredItem, { kind: 'record' }>['record'][] = [];
  const flush = async (): Promise<void> => {
    const { changes, failedJobIds } = await countRecords(batch, deps);
    sum.records += batch.length;
    sum.changed += changes.length;
    sum.failed += failedJobIds.size;
    batch = [];
  };
  for await (const item of items) {
    if (item.kind === 'unknown') sum.passedOver += 1;
    if (item.kind !== 'record') continue;
    batch.push(item.record);
    if (batch.length >= BATCH_RECORDS) await flush();
  }
  await flush();
  return sum;
}
