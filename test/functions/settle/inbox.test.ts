import { expect, test } from 'vitest';
import { createLedger } from '../../../functions/core/ledger/create-ledger.ts';
import { MemoryStore } from '../../../functions/core/ledger/memory-store.ts';
import type { InboxItem } from '../../../functions/core/ledger/store.ts';

const WAIT = { timeoutMs: 300_000 };

const anItem = (id: string): InboxItem => ({
  id,
  body: '{"jobId":1}',
  receivedAtMs: Date.UTC(2026, 10, 21),
  // Far away: garbage collection is no part of the contract.
  untilMs: Date.UTC(2100, 0, 1),
});

const build = (instance = 'a.example.com') => new MemoryStore({ instance });

test('of many repetitions at once exactly one is written', async () => {
  const store = build();
  const firsts = await Promise.all(Array.from({ length: 8 }, () => store.receive(anItem('a'), WAIT)));
  expect(firsts.filter((first) => first)).toHaveLength(1);
});

test('ids are any text, and different ones are different deliveries', async () => {
  const store = build();
  const ids = ['a', 'A', 'a#b|c%', `${'long '.repeat(1_000)}`, 'ä'];
  for (const id of ids) expect(await store.receive(anItem(id), WAIT)).toBe(true);
  for (const id of ids) expect(await store.receive(anItem(id), WAIT)).toBe(false);
});

test('deliveries are no part of the books', async () => {
  const store = build();
  await store.receive(anItem('a'), WAIT);
  const items: unknown[] = [];
  for await (const item of store.scan()) items.push(item);
  expect(items).toEqual([]);
  expect(await createLedger({ store }).rebuild({ repair: true })).toMatchObject({
    records: 0,
    counters: 0,
  });
});
