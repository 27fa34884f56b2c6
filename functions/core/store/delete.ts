import type { Key } from './keys.ts';
import type { ItemTable, TimeLimit } from './operation.ts';

/** Whether it was there or not. */
export async function deleteItem(table: ItemTable, key: Key, limit: TimeLimit): Promise<void> {
  await table.send('DeleteItem', { key }, limit);
}
