import type { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { afterAll, beforeAll } from 'vitest';
import { dynamoClient } from '../../../functions/ledger/dynamo-client.ts';
import {
  type DynamoDbLocal,
  ensureTable,
  startDynamoDbLocal,
} from '../../../scripts/local/dynamodb-local.ts';

export interface LocalTable {
  /** Both only from the first test on. */
  readonly client: DynamoDBClient;
  readonly endpoint: string;
}

/** DynamoDB Local with this table in it, from before a file's first test until after its last. */
export function localTable(tableName: string): LocalTable {
  let database: DynamoDbLocal | undefined;
  let client: DynamoDBClient | undefined;
  beforeAll(async () => {
    database = await startDynamoDbLocal();
    client = dynamoClient(database.endpoint);
    await ensureTable(client, tableName);
  });
  afterAll(async () => {
    client?.destroy();
    await database?.stop();
  });
  const started = <T>(part: T | undefined): T => {
    if (part === undefined) throw new Error(`table ${tableName} is there from the first test on`);
    return part;
  };
  return {
    get client() {
      return started(client);
    },
    get endpoint() {
      return started(database).endpoint;
    },
  };
}
