/** The least that admits a job on DynamoDB: one transaction of a record and three counters, by the SDK. */
import { DynamoDBClient, TransactWriteItemsCommand } from '@aws-sdk/client-dynamodb';

const TableName = 'bench';
const client = new DynamoDBClient({ maxAttempts: 1 });
let written = 0;

export function handler(request: unknown): Promise<unknown> {
  written += 1;
  const name = `job ${written}`;
  const record = { pk: { S: name }, sk: { S: 'record' }, request: { S: JSON.stringify(request) } };
  const counters = ['root', 'group', 'project'].map((counter) => ({
    Update: {
      ...{ TableName, Key: { pk: { S: counter }, sk: { S: 'counter' } }, UpdateExpression: 'ADD #c :a' },
      ...{ ConditionExpression: '#c <= :b', ExpressionAttributeNames: { '#c': 'committed' } },
      ExpressionAttributeValues: { ':a': { N: '1' }, ':b': { N: '900000000' } },
    },
  }));
  const put = { Put: { TableName, Item: record, ConditionExpression: 'attribute_not_exists(pk)' } };
  return client.send(
    new TransactWriteItemsCommand({ ClientRequestToken: name, TransactItems: [put, ...counters] }),
  );
}
