import type { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { dynamoClient } from '../../../functions/core/store/sdk-table.ts';

/**
 * A client of DynamoDB Local whose calls have no limit of time, some of which are below a second: one DynamoDB Local serves
 * all tests of a run, and on a machine with other things to do a slow answer is no fault of the code under test.
 */
export function patientClient(endpoint: string): DynamoDBClient {
  const client = dynamoClient(endpoint);
  const send = client.send.bind(client) as (command: unknown, options?: object) => Promise<never>;
  client.send = (command: unknown, options: unknown) =>
    send(command, { ...(typeof options === 'object' ? options : {}), abortSignal: undefined });
  return client;
}
