import { randomBytes } from 'node:crypto';
import { gunzipSync, gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import type { Item } from '../../functions/core/store/operation.ts';
import type { KeptLimitRoom } from '../../relay/limit-room.ts';
import type { KeptRooms } from '../../relay/room.ts';
import { roomTable } from '../../relay/room-table.ts';
import { range } from '../support/relay/commit-bench.ts';

const NOW_MS = Date.UTC(2026, 10, 21, 12);
const DAY_MS = 24 * 3_600_000;

const aRoom = (subject: string, toldAtMs = NOW_MS): KeptLimitRoom => ({
  room: {
    policy: 'room',
    refusal: {
      ...{ rule: 'budgets', class: 'cost', mode: 'enforce' },
      reason: {
        ...{ code: 'BUDGET_EXHAUSTED', subject, subjectLabel: subject, limit: 'money-month', unit: 'micros' },
        ...{ limitAmount: 9, committed: 1, settled: 0, asked: 1, zone: 'UTC' },
      },
    },
  },
  ...{ toldAtMs, left: 8, spent: 1, slots: [] },
});

interface Call {
  readonly target: string;
  readonly input: { readonly Item: Item } & Readonly<Record<string, unknown>>;
}

/** What is sent to the table, which answers with these items. */
function aTable(items: readonly object[] = []) {
  const calls: Call[] = [];
  const table = roomTable({
    ...{ endpoint: 'https://dynamodb.example.com', table: 'tollgate-prod', instance: 'gitlab.example.com' },
    ...{ relayId: 'r-1', nowMs: () => NOW_MS },
    fetch: async (_url, init) => {
      const target = String((init.headers as Record<string, string>)['x-amz-target']);
      calls.push({ target, input: JSON.parse(String(init.body)) });
      return new Response(JSON.stringify({ Items: items }), { status: 200 });
    },
  });
  return { table, calls };
}

/** Who always says the same. */
const answering = (body: string, status: number) =>
  roomTable({
    ...{
      endpoint: 'https://dynamodb.example.com',
      table: 't',
      instance: 'i',
      relayId: 'r',
      nowMs: () => NOW_MS,
    },
    fetch: async () => new Response(body, { status }),
  });

const packed = (kept: unknown): string => gzipSync(JSON.stringify(kept)).toString('base64');
const item = (text: string, version = '1') => ({ v: { N: version }, kr: { B: text } });

test('each relay has one item, sorted by when it was started, that goes a day later', async () => {
  const { table, calls } = aTable();
  const kept: KeptRooms = { rooms: [aRoom('group/1')], given: [7] };
  await table.write(kept);
  await table.write(kept);
  const [first, second] = calls;
  expect(first).toEqual(second);
  expect(first?.target).toBe('DynamoDB_20120810.PutItem');
  const { kr, ...rest } = first?.input.Item ?? {};
  expect(rest).toEqual({
    pk: { S: 'gitlab.example.com@rooms' },
    sk: { S: '2026-11-21T12:00:00.000Z#r-1' },
    v: { N: '1' },
    ttl: { N: String((NOW_MS + DAY_MS) / 1_000) },
  });
  expect(JSON.parse(gunzipSync(Buffer.from(String(kr?.B), 'base64')).toString())).toEqual({
    version: 1,
    ...kept,
  });
});

test('what is read is what was written, of the relays started last, and not of a day ago', async () => {
  const kept: KeptRooms = { rooms: [aRoom('group/1')], given: [7] };
  const old = { rooms: [aRoom('group/2', NOW_MS - DAY_MS - 1)], given: [8] };
  const { table, calls } = aTable([
    item(packed({ version: 1, ...kept })),
    item(packed({ version: 1, ...old })),
  ]);
  expect(await table.read()).toEqual([kept, { rooms: [], given: [8] }]);
  expect(calls[0]).toMatchObject({
    target: 'DynamoDB_20120810.Query',
    input: { ConsistentRead: true, ScanIndexForward: false, Limit: 16 },
  });
});

test('a machine whose clock is ahead by less than a minute is believed', async () => {
  const ahead = (ms: number) =>
    item(packed({ version: 1, rooms: [aRoom('group/1', NOW_MS + ms)], given: [] }));
  const { table } = aTable([ahead(60_000), ahead(60_001)]);
  expect((await table.read()).map(({ rooms }) => rooms.length)).toEqual([1, 0]);
});

test.each([
  ['nothing', {}],
  ['no item at all', 'text' as unknown as object],
  ['a newer form', item(packed({ version: 1, rooms: [aRoom('group/1')], given: [1] }), '2')],
  ['another version of the rooms', item(packed({ version: 2, rooms: [aRoom('group/1')], given: [1] }))],
  ['what is not packed', item('bm90IHBhY2tlZA==')],
  ['what is not JSON', item(gzipSync('{').toString('base64'))],
  [
    'what unpacks to more than there can be',
    item(gzipSync(Buffer.alloc(9 * 1024 * 1024)).toString('base64')),
  ],
])('%s is nothing, and the others count', async (_, foreign) => {
  const kept: KeptRooms = { rooms: [aRoom('group/1')], given: [7] };
  const { table } = aTable([foreign, item(packed({ version: 1, ...kept }))]);
  expect(await table.read()).toEqual([{ rooms: [], given: [] }, kept]);
});

test.each(['[]', '{}'])('a table that answers %s has nothing', async (body) => {
  expect(await answering(body, 200).read()).toEqual([]);
});

test('more than an item has room for is halved, until those told last fit', async () => {
  const { table, calls } = aTable();
  const rooms = range(1, 2_000).map((group) =>
    aRoom(`group/${group}-${randomBytes(200).toString('base64')}`),
  );
  await table.write({ rooms, given: range(1, 10_000) });
  const bytes = Buffer.from(String(calls[0]?.input.Item.kr?.B), 'base64');
  expect(bytes.length).toBeLessThan(400 * 1024 - 20_000);
  expect(bytes.length).toBeGreaterThan(100_000);
  const { rooms: left, given } = JSON.parse(gunzipSync(bytes).toString()) as KeptRooms;
  expect(left).toEqual(rooms.slice(-left.length));
  expect(left.length).toBeGreaterThanOrEqual(500);
  expect(given.at(-1)).toBe(10_000);
});

test('an error of the table is told by its name, and quotes nothing', async () => {
  const table = answering(
    JSON.stringify({ __type: 'com.amazonaws#AccessDeniedException', message: 'secret' }),
    400,
  );
  await expect(table.read()).rejects.toMatchObject({ name: 'AccessDeniedException' });
  await expect(table.write({ rooms: [], given: [] })).rejects.not.toThrow(/secret/);
});
