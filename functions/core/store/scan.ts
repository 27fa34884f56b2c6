import type { Item } from './item-bytes.ts';
import { type ItemPage, type ItemTable, type PageEnd, type ScanAsk, TimeLimit } from './operation.ts';

/** The whole table, page after page; not a snapshot. @param pageTimeoutMs - for each page anew. */
export async function* scanPages(
  table: ItemTable,
  ask: ScanAsk,
  pageTimeoutMs: number,
): AsyncGenerator<readonly Item[]> {
  let from: PageEnd | undefined;
  do {
    const page: ItemPage = await table.send(
      'Scan',
      { ...ask, ...(from && { from }) },
      new TimeLimit(pageTimeoutMs),
    );
    yield page.items;
    from = page.next;
  } while (from !== undefined);
}
