import type { ItemsOutcome, ItemWrite, Table } from './operation.ts';
import type { TimeLimit } from './time-limit.ts';

/** DynamoDB's own bound on one transaction. */
export const TRANSACTION_ITEMS_MAX = 100;

/**
 * Writes all or nothing; no item may appear twice.
 *
 * @param token - the same writes with the same token within ten minutes are written once.
 */
export const transactItems = (
  table: Table,
  writes: readonly ItemWrite[],
  limit: TimeLimit,
  token?: string,
): Promise<ItemsOutcome> =>
  table.send('TransactWriteItems', { writes, ...(token !== undefined && { token }) }, limit);
