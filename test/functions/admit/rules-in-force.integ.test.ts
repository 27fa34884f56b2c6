import { afterAll, beforeAll } from 'vitest';
import { dynamoClient } from '../../../functions/ledger/dynamo-client.ts';
import { DynamoStore } from '../../../functions/ledger/dynamo-store.ts';
import { DynamoLimitTable } from '../../../functions/limits/dynamo-limit-table.ts';
import {
  type DynamoDbLocal,
  ensureTable,
  startDynamoDbLocal,
} from '../../../scripts/local/dynamodb-local.ts';
import { liveLimitsContract } from './live-limits.ts';

const TABLE = 'live-limits';

let database: DynamoDbLocal;
let client: ReturnType<typeof dynamoClient>;

beforeAll(async () => {
  database = await startDynamoDbLocal();
  client = dynamoClient(database.endpoint);
  await ensureTable(client, TABLE);
});

afterAll(async () => {
  client?.destroy();
  await database?.stop();
});

liveLimitsContract((instance, clock) => {
  const table = { client, tableName: TABLE, instance, clock, random: Math.random };
  return { store: new DynamoStore(table), limits: new DynamoLimitTable(table) };
});
