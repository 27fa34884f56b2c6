import {
  type AttributeValue,
  type DynamoDBClient,
  QueryCommand,
  ResourceNotFoundException,
} from '@aws-sdk/client-dynamodb';
import { INSTANCES_PK } from '../store/keys.ts';
import { PK, SK } from '../store/table.ts';
import { tableCalls } from '../store/table-calls.ts';
import type { KnownInstance } from './instance-register.ts';

/** No job waits for it, and it is often the first thing a database hears that has just started. */
export const REGISTER_TIMEOUT_MS = 15_000;
export const GITLAB_URL = 'gu';
export const ROUTER_HOST = 'rh';
export const OPENED_AT = 'at';

export interface InstanceTable {
  readonly client: DynamoDBClient;
  readonly tableName: string;
}

/** In the order of their names. @throws {LedgerError} `ledger_unavailable`; a table that is not there knows none. */
export async function knownInstances(
  { client, tableName }: InstanceTable,
  timeoutMs = REGISTER_TIMEOUT_MS,
): Promise<readonly KnownInstance[]> {
  const command = new QueryCommand({
    TableName: tableName,
    KeyConditionExpression: '#pk = :pk',
    ExpressionAttributeNames: { '#pk': PK },
    ExpressionAttributeValues: { ':pk': { S: INSTANCES_PK } },
    ConsistentRead: true,
  });
  const answered = tableCalls(tableName, timeoutMs);
  const { Items = [] } = await answered('read whose books these are', (abortSignal) =>
    client.send(command, { abortSignal }).catch((error: unknown) => {
      // Whoever reads the books is told that the table is missing, in words of its own.
      if (error instanceof ResourceNotFoundException) return { Items: [] };
      throw error;
    }),
  );
  return Items.map(decode);
}

function decode(item: Readonly<Record<string, AttributeValue>>): KnownInstance {
  const gitlabUrl = item[GITLAB_URL]?.S;
  const routerHost = item[ROUTER_HOST]?.S;
  return {
    instance: item[SK]?.S ?? '',
    openedAtMs: Number(item[OPENED_AT]?.N ?? 0),
    ...(gitlabUrl !== undefined && { gitlabUrl }),
    ...(routerHost !== undefined && { routerHost }),
  };
}
