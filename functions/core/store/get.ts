import type { Item } from './item-bytes.ts';
import type { Key } from './keys.ts';
import type { ItemTable, TimeLimit } from './operation.ts';

/** Consistent unless it says otherwise: a read that sees what was just written costs a whole unit instead of half a one. */
export const getItem = (
  table: ItemTable,
  key: Key,
  limit: TimeLimit,
  { consistent }: { readonly consistent: boolean } = { consistent: true },
): Promise<Item | undefined> => table.send('GetItem', { key, consistent }, limit);
