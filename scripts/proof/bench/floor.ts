/** The least that admits a job on DynamoDB: one transaction of a record and three counters, by the SDK. */
import { DynamoDBClient, TransactWriteItemsCommand } from '@aws-sdk/client-dynamodb';
import { holdOf } from './floor-admit.ts';

const client = new DynamoDBClient({ maxAttempts: 1 });
let written = 0;

export function handler(request: unknown): Promise<unknown> {
  written += 1;
  return client.send(new TransactWriteItemsCommand(holdOf(`job ${written}`, request, [1, 2, 3])));
}
