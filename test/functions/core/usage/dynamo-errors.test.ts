/** What DynamoDB Local never raises: which failed transactions of the rollup are tried again. */
import {
  BatchGetItemCommand,
  DynamoDBClient,
  TransactionCanceledException,
  TransactWriteItemsCommand,
} from '@aws-sdk/client-dynamodb';
import { mockClient } from 'aws-sdk-client-mock';
import { expect, test } from 'vitest';
import { dynamoTable } from '../../../../functions/core/store/sdk-table.ts';
import { DynamoRollupStore } from '../../../../functions/core/usage/rollup-store.ts';
import { manualClock } from '../../../support/ledger/test-clock.ts';

const client = new DynamoDBClient({ region: 'local' });
const dynamo = mockClient(client);
const store = new DynamoRollupStore({
  table: dynamoTable(client, 'ledger'),
  instance: 'gitlab.example.com',
  clock: manualClock(),
  random: () => 0.5,
});

const commit = (...codes: string[]) => {
  dynamo.reset();
  dynamo.on(TransactWriteItemsCommand).rejects(
    new TransactionCanceledException({
      $metadata: {},
      message: 'no',
      CancellationReasons: codes.map((Code) => ({ Code })),
    }),
  );
  const usage = { key: { subject: 'instance', day: '2026-11-21' }, delta: new Map([['j', 1]]) };
  return store.commit({ contributions: [], usage: [usage] });
};

test.each([
  ['ConditionalCheckFailed', 'None'],
  ['TransactionConflict', 'ThrottlingError'],
  ['None', 'ProvisionedThroughputExceeded'],
])('a transaction canceled for %s and %s is tried again', async (...codes) => {
  expect(await commit(...codes)).toBe('contended');
});

test.each([
  [['ValidationError', 'None']],
  [['TransactionConflict', 'ValidationError']],
  [['None', 'ItemCollectionSizeLimitExceeded']],
  [['None', 'None']],
  [[]],
])('a transaction canceled for %j would fail again, and is told as a failure', async (codes) => {
  await expect(commit(...codes)).rejects.toMatchObject({ code: 'ledger_unavailable' });
});

test('a read is consistent unless somebody asks for half the price', async () => {
  dynamo.reset();
  dynamo.on(BatchGetItemCommand).resolves({ Responses: { ledger: [] } });
  await store.readContributions([1], 'eventual');
  await store.readContributions([1]);
  const asked = dynamo.commandCalls(BatchGetItemCommand).map(({ args: [{ input }] }) => input.RequestItems);
  expect(asked.map((tables) => tables?.ledger?.ConsistentRead)).toEqual([false, true]);
});
