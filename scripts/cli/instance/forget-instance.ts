import { REGISTER_TIMEOUT_MS } from '../../../functions/core/ledger/index.ts';
import {
  answered,
  deleteItem,
  INSTANCES_PK,
  type InstanceTable,
  TimeLimit,
  unavailable,
} from '../../../functions/core/store/index.ts';

/** The books under that name stay where they are. No function may do this. @throws {LedgerError} `ledger_unavailable` */
export const forgetInstance = (instance: string, { table }: Pick<InstanceTable, 'table'>): Promise<void> =>
  answered('forget whose books these are', unavailable(table), () =>
    deleteItem(table, { pk: INSTANCES_PK, sk: instance }, new TimeLimit(REGISTER_TIMEOUT_MS)),
  );
