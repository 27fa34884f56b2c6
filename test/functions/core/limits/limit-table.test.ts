import { randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';
import { systemClock } from '../../../../functions/core/environment/environment.ts';
import { DynamoLimitTable } from '../../../../functions/core/limits/limit-table.ts';
import { ledgerKeys } from '../../../../functions/core/store/keys.ts';
import { MemoryTable } from '../../../../functions/core/store/memory-table.ts';
import { counter } from '../../../support/ledger/asks.ts';

const WAIT = { timeoutMs: 300_000 };

/** Reads and writes of the in-memory table are those of DynamoDB: test/functions/core/store/twin.integ.test.ts. */
function build(items = new MemoryTable()): DynamoLimitTable {
  return new DynamoLimitTable({
    table: items,
    instance: 'a.example.com',
    clock: systemClock,
    random: () => 0,
  });
}
const pointer = (set: string, edit: number) => ({ set, edit, atMs: 1_000 + edit });

test('a chunk of a megabyte comes back as it was written, and so do others beside it', async () => {
  const table = build();
  const large = { name: 'root/1', bytes: new Uint8Array(randomBytes(1_000_000)) };
  const small = { name: 'root/10', bytes: new Uint8Array([1, 2, 3]) };
  const empty = { name: 'shared', bytes: new Uint8Array() };
  for (const chunk of [large, small, large]) await table.putChunk('a', chunk, WAIT);
  await table.putChunk('b', small, WAIT);
  const [one, ten, none] = await table.readChunks('a', ['root/1', 'root/10', 'root/2'], WAIT);
  expect(Buffer.from(one ?? []).equals(Buffer.from(large.bytes))).toBe(true);
  expect([...(ten ?? [])]).toEqual([1, 2, 3]);
  expect(none).toBeUndefined();
  expect(await table.readChunks('b', ['root/1', empty.name], WAIT)).toEqual([undefined, undefined]);
});

test('of many who flip from the same set exactly one wins, and the others see who did', async () => {
  const table = build();
  expect(await table.flip(pointer('a', 1), undefined, WAIT)).toEqual({ outcome: 'flipped' });
  const sets = ['b', 'c', 'd', 'e'];
  const flips = await Promise.all(sets.map((set) => table.flip(pointer(set, 2), 'a', WAIT)));
  const winners = sets.filter((_, index) => flips[index]?.outcome === 'flipped');
  expect(winners).toHaveLength(1);
  expect(await table.getPointer(WAIT)).toEqual(pointer(winners[0] ?? '', 2));
  expect(await table.flip(pointer('f', 3), 'a', WAIT)).toEqual({
    outcome: 'stale',
    live: pointer(winners[0] ?? '', 2),
  });
});

test('a first set is refused where one is live, and an edit where none is', async () => {
  const table = build();
  expect(await table.flip(pointer('b', 2), 'a', WAIT)).toEqual({ outcome: 'stale', live: undefined });
  await table.flip(pointer('a', 1), undefined, WAIT);
  expect((await table.flip(pointer('b', 1), undefined, WAIT)).outcome).toBe('stale');
});

test('what a period began with is written once: the second hears what stands', async () => {
  const table = build();
  const december = counter('group/1', 'money-month', '2026-12');
  const opening = { key: december, carried: -70, committed: 900, settled: 870, atMs: 5 };
  expect(await table.putOpening(opening, WAIT)).toEqual(opening);
  expect(await table.putOpening({ ...opening, carried: 10 }, WAIT)).toEqual(opening);
  expect(await table.readOpenings([counter('group/2'), december], WAIT)).toEqual([undefined, opening]);
  expect(await table.readOpenings([], WAIT)).toEqual([]);
});

test('a chunk that lost a part is refused, not read as a shorter one', async () => {
  const items = new MemoryTable();
  const table = build(items);
  await table.putChunk('a', { name: 'root/1', bytes: new Uint8Array(1_000_000) }, WAIT);
  await items.send('DeleteItem', { key: ledgerKeys('a.example.com').limitChunk('a', 'root/1', 1) });
  await expect(table.readChunks('a', ['root/1'], WAIT)).rejects.toMatchObject({ code: 'limits_unreadable' });
});

test('garbage collection may take every item of a retired set, and none of the live one', async () => {
  const items = new MemoryTable();
  const table = build(items);
  for (const set of ['a', 'b'])
    for (let root = 0; root < 20; root += 1)
      await table.putChunk(set, { name: `root/${root}`, bytes: new Uint8Array(400_000) }, WAIT);
  await table.retire('a', 4_000_000_000, WAIT);
  const ends = (set: string) =>
    items.items().filter(({ pk }) => pk?.S === ledgerKeys('a.example.com').limitChunk(set, '', 0).pk);
  expect(ends('a').map(({ ttl }) => ttl?.N)).toEqual(Array(40).fill('4000000000'));
  expect(ends('b').map(({ ttl }) => ttl?.N)).toEqual(Array(40).fill(undefined));
});
