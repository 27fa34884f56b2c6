import { expect, test } from 'vitest';
import { DecisionTally, type LimitSummary, renderSummary } from '../../../scripts/local/summary.ts';

const budget = (period: string, spent: number): LimitSummary => ({
  ...{ subject: 'acme/payments', limit: 'money-month', period, unit: 'micros', mode: 'enforce' },
  ...{ spent, held: 0, limitAmount: 7_500_000 },
});

test.each([
  {
    what: 'what was there before is not this run’s',
    before: [budget('2026-11', 2_400_000)],
    thisRun: 4_800_000,
  },
  {
    what: 'of a period that began meanwhile all is',
    before: [budget('2026-10', 2_400_000)],
    thisRun: 7_200_000,
  },
  { what: 'of a counter that was not there all is', before: [], thisRun: 7_200_000 },
])('$what', ({ before, thisRun }) => {
  const { limits } = new DecisionTally().summary([budget('2026-11', 7_200_000)], before, undefined);
  expect(limits.map(({ spentThisRun }) => spentThisRun)).toEqual([thisRun]);
});

test('a group’s line has both: what its counter shows and what this run spent', () => {
  const tally = new DecisionTally();
  const { groups, ...rest } = tally.summary([], [], undefined);
  expect(groups).toEqual([]);
  const money = { spent: 7_200_000, spentThisRun: 4_800_000, held: 0, limitAmount: 7_500_000 };
  const group = { group: 'acme/payments', money, admitted: 18, rejected: 21, rejectedBy: {} };
  const line = (columns: number): string | undefined =>
    renderSummary({ ...rest, groups: [group] }, 'EUR', columns)
      .split('\n')
      .find((each) => each.startsWith('acme/payments'));
  expect(line(Number.POSITIVE_INFINITY)).toMatch(/7\.20 EUR +4\.80 EUR +0\.00 EUR +7\.50 EUR +18 +21/);
  expect(line(80)).toMatch(/7\.20 EUR +0\.00 EUR +18 +21/);
});
