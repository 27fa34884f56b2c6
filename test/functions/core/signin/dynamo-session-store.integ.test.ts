import { randomBytes } from 'node:crypto';
import { PutItemCommand, paginateScan } from '@aws-sdk/client-dynamodb';
import { expect, test } from 'vitest';
import { systemClock } from '../../../../functions/core/environment/environment.ts';
import {
  dynamoSessionStore,
  dynamoUserSessions,
} from '../../../../functions/core/signin/dynamo-session-store.ts';
import { createSessions } from '../../../../functions/core/signin/sessions.ts';
import { dynamoTable } from '../../../../functions/core/store/sdk-table.ts';
import { localTable } from '../../../support/ledger/local-table.ts';
import { SESSION, sessionStoreContract } from './session-contract.ts';

const TABLE = 'sessions-contract';

const local = localTable(TABLE);

const options = (instance: string) => ({ table: dynamoTable(local.client, TABLE), instance });

sessionStoreContract((instance) => dynamoSessionStore(options(instance)));

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
