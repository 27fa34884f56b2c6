import type { JobRecord } from '../core/ledger/ledger.ts';
import type { LedgerStore, StoredItem } from '../core/ledger/store.ts';

export interface KeptFromScan<Kept> {
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
export function keptFromScan<Kept>(
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
