import { expect, test } from 'vitest';
import { billedDays } from '../../../../functions/answers/statement/billed.ts';
import { dayNumber } from '../../../../policies/limits/calendar.ts';
import { MemoryRollupStore } from '../../../support/ledger/memory-rollup-store.ts';

const SPAN = {
  from: dayNumber({ year: 2026, month: 11, day: 3 }),
  to: dayNumber({ year: 2026, month: 11, day: 5 }),
};

async function usageOf(days: Readonly<Record<string, Readonly<Record<string, number>>>>) {
  const usage = new MemoryRollupStore({ instance: 'gitlab.example.com' });
  for (const [day, counts] of Object.entries(days))
    await usage.commit({
      contributions: [],
      usage: [{ key: { subject: 'group/1', day }, delta: new Map(Object.entries(counts)) }],
    });
  return usage;
}

test('a group is charged for jobs of its own, on the days from the first to the last', async () => {
  const usage = await usageOf({
    '2026-11-02': { settledMicros: 1_000, seconds: 1_000, ran: 1_000, rootJobs: 1 },
    '2026-11-03': {
      ...{ settledMicros: 50, seconds: 5, ran: 3, corrections: 2, rootJobs: 1, heldMicros: 7 },
      ...{ bMicros: 20, bSeconds: 1, bRan: 1, bCorrections: 1 },
    },
    // A job whose end is unknown is charged, and a free one runs.
    '2026-11-04': { settledMicros: 8, heldMicros: 4 },
    '2026-11-05': { seconds: 9, ran: 1 },
    '2026-11-06': { settledMicros: 1_000, seconds: 1_000, ran: 1_000, heldMicros: 1_000 },
  });
  const free = { day: '2026-11-05', jobs: 1, seconds: 9, micros: 0 };
  const unknown = { day: '2026-11-04', jobs: 0, seconds: 0, micros: 8 };
  expect(await billedDays('group/1', SPAN, usage)).toEqual({
    charged: {
      ...{ jobs: 3, seconds: 13, micros: 38, corrections: 1 },
      days: [{ day: '2026-11-03', jobs: 2, seconds: 4, micros: 30 }, unknown, free],
    },
    all: {
      ...{ jobs: 4, seconds: 14, micros: 58, corrections: 2 },
      days: [{ day: '2026-11-03', jobs: 3, seconds: 5, micros: 50 }, unknown, free],
    },
    isCharged: true,
    heldMicros: 11,
  });
});

test('a group whose jobs are all charged to the group above it is not charged', async () => {
  const usage = await usageOf({ '2026-11-03': { settledMicros: 5, seconds: 1, bMicros: 5, bSeconds: 1 } });
  expect(await billedDays('group/1', SPAN, usage)).toMatchObject({
    charged: { micros: 0, seconds: 0, days: [] },
    isCharged: false,
  });
  expect(await billedDays('instance', SPAN, usage)).toMatchObject({ isCharged: true });
});

test('a month without days has nothing on it', async () => {
  const usage = await usageOf({});
  const empty = { from: SPAN.to + 1, to: SPAN.from };
  expect(await billedDays('group/1', empty, usage)).toMatchObject({ charged: { days: [], micros: 0 } });
});
