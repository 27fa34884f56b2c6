/** The days that a warning's forecast is made of: those of the limit's own subject, in the unit it counts. */
import { expect, test } from 'vitest';
import { dailyUseOf } from '../../../functions/rollup/daily-use.ts';
import { MemoryRollupStore } from '../../support/ledger/memory-rollup-store.ts';
import { manualClock } from '../../support/ledger/test-clock.ts';

const KEY = { subject: 'group/101', limit: 'money-month', period: '2026-11' };

async function house() {
  const store = new MemoryRollupStore({ instance: 'gitlab.example.com' });
  const used = (subject: string, day: string, micros: number, held = 0) =>
    store.commit({
      contributions: [],
      usage: [
        {
          key: { subject, day },
          delta: new Map([
            ['settledMicros', micros],
            ['heldMicros', held],
            ['seconds', 60],
          ]),
        },
      ],
    });
  await used('group/101', '2026-11-20', 5_000_000, 700);
  await used('group/101', '2026-11-18', 3_000_000);
  await used('group/101', '2026-10-24', 1);
  // Today is not over, longer ago is nobody's pace, and another group is another group.
  await used('group/101', '2026-11-21', 9);
  await used('group/101', '2026-10-23', 9);
  await used('group/102', '2026-11-20', 9);
  return dailyUseOf({ store, zone: 'UTC', clock: manualClock() });
}

const textOf = ({ day, amount }: { day: { year: number; month: number; day: number }; amount: number }) =>
  `${day.year}-${day.month}-${day.day} ${amount}`;

test('money is what was spent and held on each of the last twenty-eight days', async () => {
  const read = await house();
  expect((await read(KEY, { limit: { kind: 'money' } })).map(textOf)).toEqual([
    '2026-10-24 1',
    '2026-11-18 3000000',
    '2026-11-20 5000700',
  ]);
});

test('minutes are seconds that jobs ran, and what is counted at once has no days', async () => {
  const read = await house();
  expect((await read(KEY, { limit: { kind: 'minutes' } })).map(({ amount }) => amount)).toEqual([60, 60, 60]);
  expect(await read(KEY, { limit: { kind: 'jobs' } })).toEqual([]);
});
