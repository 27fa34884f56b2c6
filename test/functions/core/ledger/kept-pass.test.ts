/** Where a recount stands, in the table: small or large it is read as it was written, or not at all. */
import { randomBytes } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { dynamoRecountPasses } from '../../../../functions/core/ledger/kept-pass.ts';
import type { RecountPass } from '../../../../functions/core/ledger/recount-pass.ts';
import { MemoryTable } from '../../../../functions/core/store/memory-table.ts';
import { counter } from '../../../support/ledger/asks.ts';

const INSTANCE = 'gitlab.example.com';
const DAY_MS = 86_400_000;

function aPass(lines: number): RecountPass {
  const amounts = { committed: 1, fitted: 1, settled: 0, unchecked: { exempt: 0, unmetered: 0, bypass: 0 } };
  return {
    ...{ startedAtMs: 1, phase: 'first', share: { index: 0, of: 1 }, waiting: [], suspects: [] },
    segments: [{ done: false, from: { pk: { S: 'a' }, sk: { S: 'b' } } }],
    sums: {
      ...{ records: lines, passedOver: 0 },
      lines: Array.from({ length: lines }, (_, index) => ({
        // Nothing that packs well.
        key: counter(`group/${index}`, randomBytes(40).toString('hex')),
        ...{ held: amounts, early: amounts, late: [], counter: undefined, closing: undefined },
      })),
    },
    found: { records: 0, counters: 0, drift: [], unproven: [], passedOver: 0, unclosed: 0 },
  };
}

test('a pass of any size is read as it was written, and of two who go on with one the second is refused', async () => {
  const table = new MemoryTable();
  const options = { table, instance: INSTANCE, nowMs: () => 0 };
  const [mine, theirs] = [dynamoRecountPasses(options), dynamoRecountPasses(options)];
  expect(await mine.read()).toBeUndefined();
  for (const lines of [1, 12_000]) {
    const pass = aPass(lines);
    await mine.write(pass);
    expect(JSON.stringify(await dynamoRecountPasses(options).read())).toBe(JSON.stringify(pass));
  }
  expect(table.items().length).toBeGreaterThan(2);
  await theirs.read();
  await mine.write(aPass(1));
  await expect(theirs.write(aPass(2))).rejects.toThrow('somebody else goes on with the recount');
  expect((await mine.read())?.sums.records).toBe(1);
});

test('a pass is one item for as long as it fits into a part, and parts beside its head from a byte more on', async () => {
  const pass = aPass(100);
  const bytes = gzipSync(JSON.stringify(pass)).length;
  for (const [partBytes, items] of [
    [bytes, 1],
    [bytes - 1, 3],
  ] as const) {
    const table = new MemoryTable();
    const options = { table, instance: INSTANCE, nowMs: () => 0, partBytes };
    await dynamoRecountPasses(options).write(pass);
    expect(table.items()).toHaveLength(items);
    expect(JSON.stringify(await dynamoRecountPasses(options).read())).toBe(JSON.stringify(pass));
  }
});

test('where a pass is of another release, a recount begins anew', async () => {
  const table = new MemoryTable();
  const options = { table, instance: INSTANCE, nowMs: () => 0 };
  await dynamoRecountPasses(options).write(aPass(1));
  const [head] = table.items();
  await table.send('PutItem', { kind: 'put', item: { ...head, fo: { N: '2' } } });
  expect(await dynamoRecountPasses(options).read()).toBeUndefined();
});

test('where parts of a pass are gone, a recount begins anew', async () => {
  const table = new MemoryTable();
  const options = { table, instance: INSTANCE, nowMs: () => 0 };
  await dynamoRecountPasses(options).write(aPass(12_000));
  table.collectGarbage(10 * DAY_MS);
  expect(await dynamoRecountPasses(options).read()).toBeUndefined();
});
