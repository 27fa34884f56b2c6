import type { Item } from './item-bytes.ts';
import type { Key } from './keys.ts';
import { type ItemTable, present, type TimeLimit } from './operation.ts';

/** Sets attributes of an item that is there: what was taken away meanwhile does not come back. False: it was. */
export async function changeItem(table: ItemTable, key: Key, set: Item, limit: TimeLimit): Promise<boolean> {
  const { outcome } = await table.send(
    'UpdateItem',
    { kind: 'update', key, set, condition: present() },
    limit,
  );
  return outcome === 'written';
}
