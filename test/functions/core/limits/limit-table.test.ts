import { randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';
import { systemClock } from '../../../../functions/core/environment/environment.ts';
import { DynamoLimitTable } from '../../../../functions/core/limits/limit-table.ts';
import { ledgerKeys } from '../../../../functions/core/store/keys.ts';
import { MemoryTable } from '../../../../functions/core/store/memory-table.ts';

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

test('a chunk that lost a part is refused, not read as a shorter one', async () => {
  const items = new MemoryTable();
  const table = build(items);
  await table.putChunk('a', { name: 'root/1', bytes: new Uint8Array(1_000_000) }, WAIT);
  await items.send('DeleteItem', { key: ledgerKeys('a.example.com').limitChunk('a', 'root/1', 1) });
  await expect(table.readChunks('a', ['root/1'], WAIT)).rejects.toMatchObject({ code: 'limits_unreadable' });
});
