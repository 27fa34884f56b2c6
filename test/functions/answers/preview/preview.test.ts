import { expect, test } from 'vitest';
import { lookBackOf } from '../../../../functions/answers/preview/look-back.ts';
import { type DayUsage, dayText } from '../../../../functions/answers/reading/usage-days.ts';
import { usageOf } from '../../../../functions/core/usage/usage.ts';
import { NOVEMBER_21_MS } from '../../../support/ledger/test-clock.ts';
import { consoleHouse, LIMITS, USERS } from '../../console/house.ts';
import { aLimit } from '../../core/thresholds/limits.ts';

const edit = (amount: number, subject = 'group/101') =>
  ({ kind: 'set', subject, limit: 'money-month', amount }) as const;

async function live() {
  const house = consoleHouse();
  const set = await house.apply(LIMITS);
  return { ...house, set };
}

test('before it is saved: the differences, the new run-out date, and the jobs that would have been stopped', async () => {
  const { read, counts, used, set } = await live();
  counts('group/101', 'money-month', '2026-11', 200_000_000);
  for (let day = 1; day <= 20; day += 1)
    await used('group/101', `2026-11-${String(day).padStart(2, '0')}`, 10_000_000, 10);
  const shown = await read.preview([edit(150)], set, USERS.owner);
  if (shown.outcome !== 'valid') throw new Error(JSON.stringify(shown));
  expect(shown.stale).toBe(false);
  const [effect] = shown.effects;
  expect(effect?.before?.forecast?.outcome).toBe('lasts');
  expect(effect?.after?.forecast?.outcome).toBe('used_up');
  expect(effect?.lookBack).toEqual({
    days: 30,
    jobs: 200,
    jobsStopped: 50,
    jobsStoppedBefore: 0,
    reachedOn: '2026-11-16',
  });
  expect('document' in shown).toBe(false);
});

test('nobody learns of a subject by asking what an edit of it would do', async () => {
  const { read, set } = await live();
  const foreign = await read.preview([edit(1, 'group/200')], set, USERS.owner);
  const never = await read.preview([edit(1, 'group/999')], set, USERS.owner);
  expect([foreign, never]).toEqual([
    { outcome: 'unknown_subject', subject: 'group/200' },
    { outcome: 'unknown_subject', subject: 'group/999' },
  ]);
});

test('a pool above what they see is not told', async () => {
  const { read, set } = await live();
  const shown = await read.preview([edit(950)], set, USERS.owner);
  const all = await read.preview([edit(950)], set, USERS.finance);
  expect(shown.outcome === 'valid' && shown.oversubscription).toEqual([]);
  expect(all.outcome === 'valid' && all.oversubscription.map(({ subject }) => subject)).toContain(
    'group/100',
  );
});

const day = (number: number, micros: number, jobs: number): DayUsage => ({
  ...usageOf(
    new Map([
      ['settledMicros', micros],
      ['admitted', jobs],
    ]),
  ),
  number,
  day: dayText(number),
});

test('each period of the look back starts anew', () => {
  const today = 20_778;
  const days = Array.from({ length: 60 }, (_, index) => day(today - 59 + index, 100_000_000, 10));
  const amounts = { before: 'unlimited', after: 10_000_000_000 } as const;
  const limit = aLimit({ zone: 'UTC' });
  expect(lookBackOf(limit, amounts, days, NOVEMBER_21_MS, today)).toMatchObject({
    jobs: 300,
    jobsStopped: 0,
  });
  const none = lookBackOf(limit, { before: 0, after: 0 }, days, NOVEMBER_21_MS, today);
  expect(none).toMatchObject({ jobsStopped: 300, jobsStoppedBefore: 300 });
  expect(lookBackOf({ ...limit, kind: 'jobs' }, amounts, days, NOVEMBER_21_MS, today)).toBeUndefined();
});
