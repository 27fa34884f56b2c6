import { randomBytes } from 'node:crypto';
import { PutItemCommand, paginateScan } from '@aws-sdk/client-dynamodb';
import { expect, test } from 'vitest';
import { systemClock } from '../../../../functions/core/environment/environment.ts';
import {
  dynamoSessionStore,
  dynamoUserSessions,
  type SessionStore,
} from '../../../../functions/core/signin/dynamo-session-store.ts';
import { createSessions } from '../../../../functions/core/signin/sessions.ts';
import { dynamoTable } from '../../../../functions/core/store/sdk-table.ts';
import { localTable } from '../../../support/ledger/local-table.ts';
import { SESSION } from '../../../support/tables/memory-session-store.ts';

const TABLE = 'sessions-contract';

const local = localTable(TABLE);

const options = (instance: string) => ({ table: dynamoTable(local.client, TABLE), instance });

let stores = 0;
const build = (): SessionStore => {
  stores += 1;
  return dynamoSessionStore(options(`sessions-${stores}.example.com`));
};

test('a session comes back as it was written, under its own hash only', async () => {
  const store = build();
  await store.create('a', SESSION);
  expect(await store.read('a')).toEqual(SESSION);
  expect(await store.read('b')).toBeUndefined();
});

test('a change leaves what it does not name, and the end where it was', async () => {
  const store = build();
  await store.create('a', SESSION);
  expect(await store.change('a', { seenAtMs: 7 })).toBe(true);
  const roles = { admin: true, finance: false, ownedGroupIds: [1], viewerGroupIds: [1] };
  expect(await store.change('a', { roles, rolesReadAtMs: 8, username: 'fin2' })).toBe(true);
  expect(await store.read('a')).toEqual({
    ...SESSION,
    seenAtMs: 7,
    roles,
    rolesReadAtMs: 8,
    username: 'fin2',
  });
});

test('a session that was removed is not brought back by a change that was on its way', async () => {
  const store = build();
  await store.create('a', SESSION);
  await store.remove('a');
  await store.remove('a');
  expect(await store.change('a', { seenAtMs: 7 })).toBe(false);
  expect(await store.read('a')).toBeUndefined();
});

test('a user has the sessions that were made for them, and no other', async () => {
  const store = build();
  await store.create('a', SESSION);
  await store.create('b', { ...SESSION, terminal: true });
  await store.create('c', { ...SESSION, userId: 43 });
  await store.create('d', SESSION);
  await store.remove('d');
  const of = async (userId: number) =>
    (await store.ofUser(userId)).map(({ idHash, session }) => [idHash, session.terminal]).sort();
  expect(await of(42)).toEqual([
    ['a', undefined],
    ['b', true],
  ]);
  expect(await of(43)).toEqual([['c', undefined]]);
  expect(await of(44)).toEqual([]);
});

test('who reads the whole table finds no id a browser could send, and every session has an end', async () => {
  const instance = 'stolen.example.com';
  const roles = { read: async () => ({ username: 'fin', name: 'Fin', roles: SESSION.roles }) };
  const store = dynamoSessionStore(options(instance));
  const sessions = createSessions(store, roles, systemClock, randomBytes);
  const id = await sessions.open(42, undefined);
  const user = await sessions.resume(id);
  const items: Record<string, unknown>[] = [];
  for await (const { Items = [] } of paginateScan({ client: local.client }, { TableName: TABLE }))
    items.push(...Items.filter(({ pk }) => pk?.S?.startsWith(instance)));
  // The session, and that it is the user's.
  expect(items).toHaveLength(2);
  const text = JSON.stringify(items);
  expect(text).not.toContain(id);
  expect(text).not.toContain(user?.csrfToken);
  expect(text).toContain(user?.sessionId);
  for (const { ttl } of items) expect(ttl).toEqual({ N: expect.stringMatching(/^\d{10}$/) });
});

test('all sign-ins of a user end at once, wherever they were made, and nobody else’s', async () => {
  const instance = 'forget.example.com';
  const store = dynamoSessionStore(options(instance));
  const users = dynamoUserSessions(options(instance));
  for (const [hash, userId] of [
    ['a', 7],
    ['b', 7],
    ['c', 8],
  ] as const)
    await store.create(hash, { ...SESSION, userId });
  expect(await users.end(7, { dryRun: true })).toBe(2);
  expect(await store.read('a')).toBeDefined();
  expect(await users.end(7, { dryRun: false })).toBe(2);
  const left = await Promise.all(['a', 'b', 'c'].map((hash) => store.read(hash)));
  expect(left.map((session) => session?.userId)).toEqual([undefined, undefined, 8]);
  for await (const { Items = [] } of paginateScan({ client: local.client }, { TableName: TABLE }))
    expect(Items.filter(({ pk }) => pk?.S === `${instance}@sessions#of#7`)).toEqual([]);
  expect(await users.end(7, { dryRun: false })).toBe(0);
});

test('an item that is not what was written is no session', async () => {
  const instance = 'odd.example.com';
  const store = dynamoSessionStore(options(instance));
  await store.create('a', SESSION);
  const Item = {
    pk: { S: `${instance}@sessions#a` },
    sk: { S: 'session' },
    v: { N: '1' },
    ui: { N: '42' },
    ro: { S: '{"admin":true' },
  };
  await local.client.send(new PutItemCommand({ TableName: TABLE, Item }));
  expect(await store.read('a')).toBeUndefined();
});

test('a table that does not answer is sessions_unavailable, without the request in the error', async () => {
  const gone = dynamoSessionStore({
    ...options('gone.example.com'),
    table: dynamoTable(local.client, 'no-such-table'),
  });
  const error: unknown = await gone.read('a-hash').catch((reason: unknown) => reason);
  expect(error).toMatchObject({ code: 'sessions_unavailable', status: 503 });
  expect(error).not.toHaveProperty('cause');
  expect(String(error)).not.toContain('a-hash');
});
