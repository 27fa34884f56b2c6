import type { ItemsOutcome, ItemTable, ItemWrite, TimeLimit } from './operation.ts';

/**
 * Writes all or nothing; no item may appear twice.
 *
 * @param token - the same writes with the same token within ten minutes are written once.
 */
export const transactItems = (
  table: ItemTable,
  writes: readonly ItemWrite[],
  limit: TimeLimit,
  token?: string,
): Promise<ItemsOutcome> =>
  table.send('TransactWriteItems', { writes, ...(token !== undefined && { token }) }, limit);
