import { DeleteItemCommand, GetItemCommand } from '@aws-sdk/client-dynamodb';
import { expect, test } from 'vitest';
import { DynamoDirectoryTable } from '../../../../functions/core/directory/dynamo-directory-table.ts';
import { systemClock } from '../../../../functions/core/environment/environment.ts';
import { DynamoStore } from '../../../../functions/core/ledger/dynamo-store.ts';
import { ledgerKeys } from '../../../../functions/core/store/keys.ts';
import { dynamoTable } from '../../../../functions/core/store/sdk-table.ts';
import { fillPlaces } from '../../../support/fill-places.ts';
import { localTable } from '../../../support/ledger/local-table.ts';
import { NOVEMBER_21_MS } from '../../../support/ledger/test-clock.ts';
import { syncBench } from '../../../support/sync-bench.ts';
import { directoryTableContract } from './contract.ts';

const TABLE = 'directory-contract';
const WAIT = { timeoutMs: 300_000 };

const local = localTable(TABLE);

const tableOf = (instance: string, tableName = TABLE) =>
  new DynamoDirectoryTable({ table: dynamoTable(local.client, tableName), instance });

directoryTableContract((instance) => tableOf(instance));

test('a sync on the real engine can be read, twice in a row and after a change', async () => {
  const bench = syncBench({ table: tableOf('whole.example.com') });
  fillPlaces(bench.places, { roots: 3, groups: 250, projects: 2_500 });
  const reader = bench.reader();
  expect(await bench.run()).toMatchObject({
    outcome: 'flipped',
    live: true,
    groups: 250,
    projectsListed: 2_500,
  });
  const ask = { projectId: 2_400, namespaceId: 151, rootNamespaceId: 1 };
  expect((await reader.directoryFor([ask]))?.chainById.get(151)?.map(({ id }) => id)).toEqual([1, 151]);
  bench.places.groups.set(151, { id: 151, parentId: 2, path: 'moved' });
  await bench.run();
  bench.clock.advance(60_000);
  const moved = { ...ask, rootNamespaceId: 2 };
  expect((await reader.directoryFor([moved]))?.chainById.get(151)?.map(({ path }) => path)).toEqual([
    'g2',
    'g2/moved',
  ]);
});

test('the directory is no part of the books: no scan of the ledger yields it', async () => {
  const instance = 'books.example.com';
  const bench = syncBench({ table: tableOf(instance) });
  fillPlaces(bench.places, { roots: 1, groups: 3, projects: 3 });
  await bench.run();
  await bench.table.putWish({ kind: 'group', id: 1 }, NOVEMBER_21_MS, WAIT);
  const store = new DynamoStore({
    table: dynamoTable(local.client, TABLE),
    instance,
    clock: systemClock,
    random: Math.random,
  });
  const items: unknown[] = [];
  for await (const item of store.scan()) items.push(item);
  expect(items).toEqual([]);
});

test('a chunk that lost a part is refused, not read as a shorter one', async () => {
  const instance = 'torn.example.com';
  const table = tableOf(instance);
  const at = { version: '1-a', name: 'groups/1' };
  await table.putChunk(at, new Uint8Array(1_000_000), WAIT);
  const { pk, sk } = ledgerKeys(instance).directoryChunk('1-a', 'groups/1', 1);
  await local.client.send(new DeleteItemCommand({ TableName: TABLE, Key: { pk: { S: pk }, sk: { S: sk } } }));
  await expect(table.readChunks([at], WAIT)).rejects.toMatchObject({ code: 'directory_unreadable' });
});

test('what is to go carries the time for garbage collection, every part of it, and a wish carries one, too', async () => {
  const instance = 'ttl.example.com';
  const table = tableOf(instance);
  const keys = ledgerKeys(instance);
  await table.putChunk({ version: '1-a', name: 'index' }, new Uint8Array(500_000), WAIT);
  await table.expireChunk({ version: '1-a', name: 'index' }, NOVEMBER_21_MS, WAIT);
  await table.putWish({ kind: 'project', id: 5 }, NOVEMBER_21_MS, WAIT);
  const ttlOf = async ({ pk, sk }: { pk: string; sk: string }) => {
    const command = new GetItemCommand({ TableName: TABLE, Key: { pk: { S: pk }, sk: { S: sk } } });
    return Number((await local.client.send(command)).Item?.ttl?.N);
  };
  for (const part of [0, 1]) {
    expect(await ttlOf(keys.directoryChunk('1-a', 'index', part))).toBe(NOVEMBER_21_MS / 1000);
  }
  expect(await ttlOf(keys.directoryWish('project/5'))).toBe(NOVEMBER_21_MS / 1000 + 6 * 3_600);
});

test('a table that does not answer is directory_unavailable, without the request in the error', async () => {
  const gone = tableOf('gone.example.com', 'no-such-table');
  const error: unknown = await gone.getPointer(WAIT).catch((reason: unknown) => reason);
  expect(error).toMatchObject({ code: 'directory_unavailable', retryable: true });
  expect(error).not.toHaveProperty('cause');
  expect(error).not.toHaveProperty('$metadata');
});
