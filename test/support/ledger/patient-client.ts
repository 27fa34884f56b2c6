import type { DynamoDBClient } from '@aws-sdk/client-dynamodb';

/**
 * Takes away every call's own limit of time, some of which are below a second: one DynamoDB Local serves all tests of a run,
 * and on a machine with other things to do a slow answer is no fault of the code under test.
 */
export function neverGivesUp(client: DynamoDBClient): void {
  const send = client.send.bind(client) as (command: unknown, options?: object) => Promise<never>;
  client.send = (command: unknown, options: unknown) =>
    send(command, { ...(typeof options === 'object' ? options : {}), abortSignal: undefined });
}
