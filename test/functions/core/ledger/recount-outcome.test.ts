/** What the last recount found, beside the books. */
import { expect, test } from 'vitest';
import {
  dynamoRecountOutcomes,
  isRecountLate,
  mendedMs,
  recountOutcome,
} from '../../../../functions/core/ledger/checkpoints.ts';
import { MemoryTable } from '../../../../functions/core/store/memory-table.ts';
import { counter } from '../../../support/ledger/asks.ts';

const outcomes = () => dynamoRecountOutcomes({ table: new MemoryTable(), instance: 'gitlab.example.com' });

const drift = (group: number) => {
  const amounts = {
    committed: group,
    fitted: 0,
    settled: 0,
    unchecked: { exempt: 0, unmetered: 0, bypass: 0 },
  };
  return { key: counter(`group/${group}`), counter: amounts, recount: { ...amounts, committed: 7 } };
};

test('before the first recount there is nothing to read', async () => {
  expect(await outcomes().read()).toBeUndefined();
});

test.each([undefined, { jobs: 5, mended: 1, failed: 2 }])(
  'what a recount found is read as it was written; of usage it found %j',
  async (usage) => {
    const kept = outcomes();
    const found = recountOutcome({ records: 9, drift: [drift(1)], unproven: [drift(2)] }, 1_000, usage);
    expect(found).toStrictEqual({
      ...{ recountedAtMs: 1_000, records: 9 },
      drifting: [
        { key: counter('group/1'), committed: 1, recounted: 7 },
        { key: counter('group/2'), committed: 2, recounted: 7 },
      ],
      unlisted: 0,
      ...(usage && { usage }),
    });
    await kept.write(found);
    expect(await kept.read()).toStrictEqual(found);
  },
);

test('of more drifting counters than are listed it says how many there are more', () => {
  const all = Array.from({ length: 503 }, (_, group) => drift(group));
  const found = recountOutcome({ records: 9, drift: all.slice(0, 400), unproven: all.slice(400) }, 1_000);
  expect(found).toMatchObject({ unlisted: 3 });
  expect(found.drifting.map(({ committed }) => committed)).toEqual([...Array(500).keys()]);
});

test.each([
  ['a day', 1_000, 1],
  ['two days', 4_000_000, 2],
  ['a week, by an older version', undefined, 7],
])('a recount that takes %s is late two rounds and a day after its begin', (_, records, days) => {
  const last = { recountedAtMs: 1_000, drifting: [], unlisted: 0, ...(records && { records }) };
  const lateMs = 1_000 + (2 * days + 1) * 86_400_000;
  expect([isRecountLate(last, lateMs), isRecountLate(last, lateMs + 1)]).toEqual([false, true]);
  // Each job is met after its last change.
  expect(mendedMs(records)).toBe((days + 1) * 86_400_000);
});
