import {
  type AttributeValue,
  type DynamoDBClient,
  PutItemCommand,
  QueryCommand,
  ResourceNotFoundException,
} from '@aws-sdk/client-dynamodb';
import type { InstanceRegister, KnownInstance } from './instance-register.ts';
import { versioned } from './item-version.ts';
import { INSTANCES_PK } from './keys.ts';
import { PK, SK } from './table.ts';
import { tableCalls } from './table-calls.ts';

/** No job waits for it, and it is often the first thing a database hears that has just started. */
const TIMEOUT_MS = 15_000;
const GITLAB_URL = 'gu';
const ROUTER_HOST = 'rh';
const OPENED_AT = 'at';

export interface DynamoInstanceRegisterOptions {
  readonly client: DynamoDBClient;
  readonly tableName: string;
}

/** One item per instance, outside of every instance's own keys. */
export function dynamoInstanceRegister({
  client,
  tableName,
}: DynamoInstanceRegisterOptions): InstanceRegister {
  const answered = tableCalls(tableName, TIMEOUT_MS);
  return {
    async list() {
      const command = new QueryCommand({
        TableName: tableName,
        KeyConditionExpression: '#pk = :pk',
        ExpressionAttributeNames: { '#pk': PK },
        ExpressionAttributeValues: { ':pk': { S: INSTANCES_PK } },
        ConsistentRead: true,
      });
      const { Items = [] } = await answered('read whose books these are', (abortSignal) =>
        client.send(command, { abortSignal }).catch((error: unknown) => {
          // Whoever reads the books is told that the table is missing, in words of its own.
          if (error instanceof ResourceNotFoundException) return { Items: [] };
          throw error;
        }),
      );
      return Items.map(decode);
    },
    async remember(known) {
      const command = new PutItemCommand({ TableName: tableName, Item: encode(known) });
      await answered('remember whose books these are', (abortSignal) =>
        client.send(command, { abortSignal }),
      );
    },
  };
}

const encode = ({ instance, gitlabUrl, routerHost, openedAtMs }: KnownInstance) => ({
  [PK]: { S: INSTANCES_PK },
  [SK]: { S: instance },
  ...versioned,
  [OPENED_AT]: { N: String(openedAtMs) },
  ...(gitlabUrl !== undefined && { [GITLAB_URL]: { S: gitlabUrl } }),
  ...(routerHost !== undefined && { [ROUTER_HOST]: { S: routerHost } }),
});

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
