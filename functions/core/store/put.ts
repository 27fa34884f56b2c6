import type { Item } from './item-bytes.ts';
import { versioned } from './item-version.ts';
import type { Key } from './keys.ts';
import type { ItemCondition, ItemTable, PutOutcome, PutWrite, TimeLimit } from './operation.ts';
import { PK, SK } from './table.ts';

/** An item of this program's version. */
export const itemAt = ({ pk, sk }: Key, attributes: Item): Item => ({
  [PK]: { S: pk },
  [SK]: { S: sk },
  ...versioned,
  ...attributes,
});

/** What a refused write shows: nothing, or the item that stands there. */
type Shown = 'nothing' | 'old';

/** @param condition - on the item that stands there. */
export const putItem = (
  table: ItemTable,
  item: Item,
  limit: TimeLimit,
  condition?: ItemCondition,
  shown: Shown = 'nothing',
): Promise<PutOutcome> => table.send('PutItem', putOf(item, condition, shown), limit);

/** The same as part of a transaction. */
export const putOf = (item: Item, condition?: ItemCondition, shown: Shown = 'nothing'): PutWrite => ({
  kind: 'put',
  item,
  ...(condition !== undefined && { condition, showsOld: shown === 'old' }),
});
