import { DynamoDBClient, type DynamoDBClientConfig, ScanCommand } from '@aws-sdk/client-dynamodb';
import { systemClock } from '../../../functions/core/environment/index.ts';
import { createLedger, DynamoStore } from '../../../functions/core/ledger/index.ts';
import { dynamoTable } from '../../../functions/core/store/index.ts';
import { INBOX_SK, SK } from '../../../functions/names.ts';

type Connection = Pick<DynamoDBClientConfig, 'endpoint' | 'region' | 'credentials'>;

/** What the table's stream would tell of the deliveries in the inbox: the emulator's stream is not filled. */
export async function arrivals(connection: Connection, tableName: string): Promise<readonly unknown[]> {
  const client = new DynamoDBClient(connection);
  const { Items = [] } = await client.send(new ScanCommand({ TableName: tableName, ConsistentRead: true }));
  client.destroy();
  return Items.filter((item) => item[SK]?.S?.startsWith(INBOX_SK) === true).map((NewImage, index) => ({
    eventName: 'INSERT',
    eventSource: 'aws:dynamodb',
    dynamodb: { SequenceNumber: String(index + 1), StreamViewType: 'NEW_AND_OLD_IMAGES', NewImage },
  }));
}

/** `HELD`, `SETTLED` …; undefined: the job is not in the books. */
export async function stateOfJob(
  connection: Connection,
  {
    tableName,
    instance,
    jobId,
  }: { readonly tableName: string; readonly instance: string; readonly jobId: number },
): Promise<string | undefined> {
  const client = new DynamoDBClient(connection);
  const store = new DynamoStore({
    table: dynamoTable(client, tableName),
    instance,
    clock: systemClock,
    random: Math.random,
  });
  const record = await createLedger({ store }).readRecord(jobId);
  client.destroy();
  return record?.state;
}
