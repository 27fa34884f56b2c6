import { DeleteItemCommand } from '@aws-sdk/client-dynamodb';
import { type InstanceTable, REGISTER_TIMEOUT_MS } from '../../../functions/core/ledger/known-instances.ts';
import { INSTANCES_PK } from '../../../functions/core/store/keys.ts';
import { PK, SK } from '../../../functions/core/store/table.ts';
import { tableCalls } from '../../../functions/core/store/table-calls.ts';

/** The books under that name stay where they are. No function may do this. @throws {LedgerError} `ledger_unavailable` */
export async function forgetInstance(instance: string, { client, tableName }: InstanceTable): Promise<void> {
  const command = new DeleteItemCommand({
    TableName: tableName,
    Key: { [PK]: { S: INSTANCES_PK }, [SK]: { S: instance } },
  });
  await tableCalls(tableName, REGISTER_TIMEOUT_MS)('forget whose books these are', (abortSignal) =>
    client.send(command, { abortSignal }),
  );
}
