import { DeleteItemCommand, paginateQuery } from '@aws-sdk/client-dynamodb';
import { expect, test } from 'vitest';
import { systemClock } from '../../../../functions/core/environment/environment.ts';
import { DynamoStore } from '../../../../functions/core/ledger/dynamo-store.ts';
import { DynamoLimitTable } from '../../../../functions/core/limits/dynamo-limit-table.ts';
import { ledgerKeys } from '../../../../functions/core/store/keys.ts';
import { dynamoTable } from '../../../../functions/core/store/sdk-table.ts';
import { counter } from '../../../support/ledger/asks.ts';
import { localTable } from '../../../support/ledger/local-table.ts';
import { limitTableContract } from './contract.ts';

const TABLE = 'limits-contract';
const WAIT = { timeoutMs: 300_000 };

const local = localTable(TABLE);

const options = (instance: string) => ({
  table: dynamoTable(local.client, TABLE),
  instance,
  clock: systemClock,
  random: Math.random,
});

limitTableContract((instance) => new DynamoLimitTable(options(instance)));

test('limits are no part of the books: no scan of the ledger yields them', async () => {
  const instance = 'books.example.com';
  const table = new DynamoLimitTable(options(instance));
  await table.putChunk('a', { name: 'shared', bytes: new Uint8Array([1]) }, WAIT);
  await table.flip({ set: 'a', edit: 1, atMs: 1 }, undefined, WAIT);
  await table.putOpening({ key: counter('group/1'), carried: 1, committed: 1, settled: 1, atMs: 1 }, WAIT);
  const items: unknown[] = [];
  for await (const item of new DynamoStore(options(instance)).scan()) items.push(item);
  expect(items).toEqual([]);
});

test('a chunk that lost a part is refused, not read as a shorter one', async () => {
  const instance = 'torn.example.com';
  const table = new DynamoLimitTable(options(instance));
  await table.putChunk('a', { name: 'root/1', bytes: new Uint8Array(1_000_000) }, WAIT);
  const { pk, sk } = ledgerKeys(instance).limitChunk('a', 'root/1', 1);
  await local.client.send(new DeleteItemCommand({ TableName: TABLE, Key: { pk: { S: pk }, sk: { S: sk } } }));
  await expect(table.readChunks('a', ['root/1'], WAIT)).rejects.toMatchObject({ code: 'limits_unreadable' });
});

test('garbage collection may take every item of a retired set, and none of the live one', async () => {
  const instance = 'retired.example.com';
  const table = new DynamoLimitTable(options(instance));
  const names = Array.from({ length: 20 }, (_, root) => `root/${root}`);
  for (const set of ['a', 'b']) {
    for (const name of names) await table.putChunk(set, { name, bytes: new Uint8Array(400_000) }, WAIT);
  }
  await table.flip({ set: 'b', edit: 2, atMs: 1 }, undefined, WAIT);
  await table.retire('a', 4_000_000_000, { timeoutMs: 300_000 });
  const ends = async (set: string): Promise<ReadonlySet<string | undefined>> => {
    const { pk } = ledgerKeys(instance).limitChunk(set, '', 0);
    const found: (string | undefined)[] = [];
    const query = {
      TableName: TABLE,
      KeyConditionExpression: 'pk = :pk',
      ExpressionAttributeValues: { ':pk': { S: pk } },
    };
    for await (const { Items = [] } of paginateQuery({ client: local.client }, query))
      found.push(...Items.map(({ ttl }) => ttl?.N));
    expect(found).toHaveLength(40);
    return new Set(found);
  };
  expect([...(await ends('a'))]).toEqual(['4000000000']);
  expect([...(await ends('b'))]).toEqual([undefined]);
});

test('a table that does not answer is limits_unavailable, without the request in the error', async () => {
  const gone = new DynamoLimitTable({
    ...options('gone.example.com'),
    table: dynamoTable(local.client, 'no-such-table'),
  });
  const error: unknown = await gone.getPointer(WAIT).catch((reason: unknown) => reason);
  expect(error).toMatchObject({ code: 'limits_unavailable', retryable: true });
  expect(error).not.toHaveProperty('cause');
  expect(error).not.toHaveProperty('$metadata');
});
