import { DeleteItemCommand } from '@aws-sdk/client-dynamodb';
import { expect, test } from 'vitest';
import { DynamoDirectoryTable } from '../../../../functions/core/directory/directory-table.ts';
import { ledgerKeys } from '../../../../functions/core/store/keys.ts';
import { dynamoTable } from '../../../../functions/core/store/sdk-table.ts';
import { fillPlaces } from '../../../support/fill-places.ts';
import { localTable } from '../../../support/ledger/local-table.ts';
import { syncBench } from '../../../support/sync-bench.ts';

const TABLE = 'directory-contract';
const WAIT = { timeoutMs: 300_000 };

const local = localTable(TABLE);

const tableOf = (instance: string, tableName = TABLE) =>
  new DynamoDirectoryTable({ table: dynamoTable(local.client, tableName), instance });

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

test('a chunk that lost a part is refused, not read as a shorter one', async () => {
  const instance = 'torn.example.com';
  const table = tableOf(instance);
  const at = { version: '1-a', name: 'groups/1' };
  await table.putChunk(at, new Uint8Array(1_000_000), WAIT);
  const { pk, sk } = ledgerKeys(instance).directoryChunk('1-a', 'groups/1', 1);
  await local.client.send(new DeleteItemCommand({ TableName: TABLE, Key: { pk: { S: pk }, sk: { S: sk } } }));
  await expect(table.readChunks([at], WAIT)).rejects.toMatchObject({ code: 'directory_unreadable' });
});

test('a table that does not answer is directory_unavailable, without the request in the error', async () => {
  const gone = tableOf('gone.example.com', 'no-such-table');
  const error: unknown = await gone.getPointer(WAIT).catch((reason: unknown) => reason);
  expect(error).toMatchObject({ code: 'directory_unavailable', retryable: true });
  expect(error).not.toHaveProperty('cause');
  expect(error).not.toHaveProperty('$metadata');
});
