import type { Item } from './item-bytes.ts';
import type { ItemPage, ItemTable, PageEnd, QueryAsk, TimeLimit } from './operation.ts';

/** The first page: of 1 MB, or of `pageItems`. */
export const queryPage = (table: ItemTable, ask: QueryAsk, limit: TimeLimit): Promise<ItemPage> =>
  table.send('Query', ask, limit);

/** Page after page, for as long as whoever reads wants more. */
export async function* queryPages(
  table: ItemTable,
  ask: QueryAsk,
  limit: TimeLimit,
): AsyncGenerator<readonly Item[]> {
  let from: PageEnd | undefined;
  do {
    const page: ItemPage = await queryPage(table, { ...ask, ...(from && { from }) }, limit);
    yield page.items;
    from = page.next;
  } while (from !== undefined);
}

/** All of them. */
export async function queryAll(table: ItemTable, ask: QueryAsk, limit: TimeLimit): Promise<readonly Item[]> {
  const found: Item[] = [];
  for await (const items of queryPages(table, ask, limit)) found.push(...items);
  return found;
}
