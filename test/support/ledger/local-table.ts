import type { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { afterAll, beforeAll } from 'vitest';
import { ensureTable } from '../../../scripts/local/dynamodb-local.ts';
import { patientClient } from './patient-client.ts';
import { sharedDynamoDb } from './shared-dynamodb.ts';
import { refuseUnversionedWrites } from './versioned-writes.ts';

export interface LocalTable {
  /** Both only from the first test on. */
  readonly client: DynamoDBClient;
  readonly endpoint: string;
}

/** This table in the run's DynamoDB Local, from before a file's first test on. No other file may use its name. */
export function localTable(tableName: string): LocalTable {
  let client: DynamoDBClient | undefined;
  beforeAll(async () => {
    client = patientClient(sharedDynamoDb());
    refuseUnversionedWrites(client);
    await ensureTable(client, tableName);
  });
  afterAll(async () => {
    client?.destroy();
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
      return sharedDynamoDb();
    },
  };
}
