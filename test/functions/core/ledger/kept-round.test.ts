/** The progress of a recount in the table: small or large it is read as it was written, or not at all. */
import { randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';
import { COUNTERS_MAX, Recount, recountedAmounts } from '../../../../functions/core/ledger/recount.ts';
import { dynamoRecountRounds, type RecountRound } from '../../../../functions/core/ledger/recount-round.ts';
import { MemoryTable } from '../../../../functions/core/store/memory-table.ts';
import { counter } from '../../../support/ledger/asks.ts';

const INSTANCE = 'gitlab.example.com';
const DAY_MS = 86_400_000;

function aRound(lines: number): RecountRound {
  const amounts = { committed: 1, fitted: 1, settled: 0, unchecked: { exempt: 0, unmetered: 0, bypass: 0 } };
  return {
    ...{ startedAtMs: 1, lastRecords: 2, suspects: [] },
    segments: [{ done: false, from: { pk: { S: 'a' }, sk: { S: 'b' } } }],
    sums: {
      ...{ records: lines, passedOver: 0 },
      lines: Array.from({ length: lines }, (_, index) => ({
        // Nothing that packs well.
        key: counter(`group/${index}`, randomBytes(40).toString('hex')),
        ...{ held: amounts, late: [] },
      })),
    },
  };
}

test('a round of any size is read as it was written, and of two runs that go on with it the second is refused', async () => {
  const table = new MemoryTable();
  const options = { table, instance: INSTANCE, nowMs: () => 0 };
  const [mine, theirs] = [dynamoRecountRounds(options), dynamoRecountRounds(options)];
  expect(await mine.read()).toBeUndefined();
  for (const lines of [1, 12_000]) {
    const round = aRound(lines);
    await mine.write(round);
    expect(JSON.stringify(await dynamoRecountRounds(options).read())).toBe(JSON.stringify(round));
  }
  expect(table.items().length).toBeGreaterThan(2);
  await theirs.read();
  await mine.write(aRound(1));
  await expect(theirs.write(aRound(2))).rejects.toThrow('another run goes on with the recount');
  expect((await mine.read())?.sums.records).toBe(1);
});

test('a round of another release begins again', async () => {
  const table = new MemoryTable();
  const options = { table, instance: INSTANCE, nowMs: () => 0 };
  await dynamoRecountRounds(options).write(aRound(1));
  const [head] = table.items();
  await table.send('PutItem', { kind: 'put', item: { ...head, fo: { N: '2' } } });
  expect(await dynamoRecountRounds(options).read()).toBeUndefined();
});

test('a round that no run went on with for three days has lost its parts and begins again', async () => {
  const table = new MemoryTable();
  const nowMs = Date.UTC(2026, 10, 21);
  const options = { table, instance: INSTANCE, nowMs: () => nowMs };
  await dynamoRecountRounds(options).write(aRound(12_000));
  table.collectGarbage(nowMs + 3 * DAY_MS - 1_000);
  expect((await dynamoRecountRounds(options).read())?.sums.records).toBe(12_000);
  table.collectGarbage(nowMs + 3 * DAY_MS + 1_000);
  expect(await dynamoRecountRounds(options).read()).toBeUndefined();
});

test('a round that an older version began counts the corrections that it kept apart, once', () => {
  const key = counter('group/1');
  const sum = (committed: number) => ({
    ...{ committed, fitted: committed, settled: committed },
    unchecked: { exempt: 0, unmetered: 0, bypass: 0 },
  });
  const older = { records: 1, passedOver: 0, lines: [{ key, held: sum(5), early: sum(-2), late: [] }] };
  const kept = new Recount(older, COUNTERS_MAX).kept();
  const lines = [...new Recount(kept, COUNTERS_MAX).lines.values()];
  expect(lines.map(recountedAmounts)).toEqual([sum(3)]);
});
