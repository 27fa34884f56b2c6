import {
  BatchGetItemCommand,
  DynamoDBClient,
  ProvisionedThroughputExceededException,
  RequestLimitExceeded,
  TransactionCanceledException,
  TransactionInProgressException,
  TransactWriteItemsCommand,
} from '@aws-sdk/client-dynamodb';
import { mockClient } from 'aws-sdk-client-mock';
import { expect, test } from 'vitest';
import { DynamoStore } from '../../../../functions/core/ledger/dynamo-store.ts';
import type { Write } from '../../../../functions/core/ledger/store.ts';
import { dynamoTable } from '../../../../functions/core/store/sdk-table.ts';
import { counter } from '../../../support/ledger/asks.ts';
import { manualClock } from '../../../support/ledger/test-clock.ts';

/** Only what DynamoDB Local never raises: the shapes of errors. What conditions mean is proven on the real engine. */
const client = new DynamoDBClient({ region: 'local' });
const dynamo = mockClient(client);
const store = new DynamoStore({
  table: dynamoTable(client, 'ledger'),
  instance: 'gitlab.example.com',
  clock: manualClock(),
  random: () => 0.5,
});

const write: Write = {
  kind: 'counter',
  key: counter('group/1'),
  committed: 1,
  fitted: 1,
  settled: 0,
  unchecked: {},
  maxCommitted: 5,
};
const transact = () =>
  store.transact([write, { ...write, key: counter('group/2') }], { token: 'token', timeoutMs: 1000 });

const meta = { $metadata: {}, message: 'no' };
const canceled = (...codes: string[]) =>
  new TransactionCanceledException({ ...meta, CancellationReasons: codes.map((Code) => ({ Code })) });

test.each<[string, Error, string, number[]?]>([
  ['a conflicting item', canceled('None', 'TransactionConflict'), 'conflict', [1]],
  [
    'a throttled item beside a conflicting one',
    canceled('ThrottlingError', 'TransactionConflict'),
    'conflict',
    [0, 1],
  ],
  ['our own earlier try', new TransactionInProgressException({ ...meta }), 'conflict'],
  ['a throttled item', canceled('ThrottlingError', 'None'), 'throttled', [0]],
  ['a hot partition', canceled('None', 'ProvisionedThroughputExceeded'), 'throttled', [1]],
  ['a throttled table', new ProvisionedThroughputExceededException({ ...meta }), 'throttled'],
  ['a throttled account', new RequestLimitExceeded({ ...meta }), 'throttled'],
])('%s is a value', async (_, error, outcome, contended) => {
  dynamo.reset();
  dynamo.on(TransactWriteItemsCommand).rejects(error);
  expect(await transact()).toEqual({ outcome, ...(contended && { contended }) });
});

test('a refusal beside a conflict is a refusal: it says something new', async () => {
  dynamo.reset();
  dynamo.on(TransactWriteItemsCommand).rejects(canceled('TransactionConflict', 'ConditionalCheckFailed'));
  expect(await transact()).toEqual({ outcome: 'refused', refusals: [undefined, { kind: 'counter' }] });
});

test.each([
  { name: 'a timeout', error: Object.assign(new Error('aborted'), { name: 'AbortError' }) },
  { name: 'a lost connection', error: Object.assign(new Error('read ECONNRESET'), { name: 'Error' }) },
  { name: 'an internal error', error: Object.assign(new Error('oops'), { name: 'InternalServerError' }) },
  { name: 'an invalid write', error: canceled('ValidationError', 'None') },
])('$name is ledger_unavailable, names the table and carries no request', async ({ error }) => {
  dynamo.reset();
  dynamo.on(TransactWriteItemsCommand).rejects(Object.assign(error, { $response: { secret: 'signature' } }));
  const failure: unknown = await transact().catch((thrown: unknown) => thrown);
  expect(failure).toMatchObject({ name: 'LedgerError', code: 'ledger_unavailable', retryable: true });
  expect(String(failure)).toContain('table ledger');
  expect(JSON.stringify(failure, Object.getOwnPropertyNames(failure))).not.toContain('signature');
});

test('keys a busy table leaves over are asked for again, and only so often', async () => {
  dynamo.reset();
  const Keys = [{ pk: { S: 'x' }, sk: { S: 'y' } }];
  dynamo.on(BatchGetItemCommand).resolves({ UnprocessedKeys: { ledger: { Keys } } });
  await expect(store.readRecords([1], { timeoutMs: 1000 })).rejects.toMatchObject({
    code: 'ledger_unavailable',
  });
  expect(dynamo.commandCalls(BatchGetItemCommand)).toHaveLength(5);
});

test('a transaction carries its token, and every condition asks for the old item', async () => {
  dynamo.reset();
  dynamo.on(TransactWriteItemsCommand).resolves({});
  await transact();
  const [call] = dynamo.commandCalls(TransactWriteItemsCommand);
  expect(call?.args[0].input.ClientRequestToken).toBe('token');
  const updates = call?.args[0].input.TransactItems?.map(
    ({ Update }) => Update?.ReturnValuesOnConditionCheckFailure,
  );
  expect(updates).toEqual(['ALL_OLD', 'ALL_OLD']);
});
