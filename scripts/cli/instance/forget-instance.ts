import { REGISTER_TIMEOUT_MS } from '../../../functions/core/ledger/known-instances.ts';
import { deleteItem } from '../../../functions/core/store/delete.ts';
import { INSTANCES_PK } from '../../../functions/core/store/keys.ts';
import { type InstanceTable, TimeLimit } from '../../../functions/core/store/operation.ts';
import { answered, unavailable } from '../../../functions/core/store/table-failure.ts';

/** The books under that name stay where they are. No function may do this. @throws {LedgerError} `ledger_unavailable` */
export const forgetInstance = (instance: string, { table }: Pick<InstanceTable, 'table'>): Promise<void> =>
  answered('forget whose books these are', unavailable(table), () =>
    deleteItem(table, { pk: INSTANCES_PK, sk: instance }, new TimeLimit(REGISTER_TIMEOUT_MS)),
  );
