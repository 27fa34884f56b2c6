import { DeleteItemCommand } from '@aws-sdk/client-dynamodb';
import { INSTANCES_PK } from '../../../functions/ledger/keys.ts';
import { type InstanceTable, REGISTER_TIMEOUT_MS } from '../../../functions/ledger/known-instances.ts';
import { PK, SK } from '../../../functions/ledger/table.ts';
import { tableCalls } from '../../../functions/ledger/table-calls.ts';

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
