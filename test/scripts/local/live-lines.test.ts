import { expect, test } from 'vitest';
import { type Figures, figureLine, liveBlock } from '../../../scripts/local/screen.ts';
import { DecisionTally, type LimitSummary, renderSummary } from '../../../scripts/local/summary.ts';

const ESCAPE = String.fromCharCode(27);

const budget = (
  subject: string,
  spent: number,
  held: number,
  limitAmount: number,
  period = '2026-11',
): LimitSummary => ({
  ...{ subject, limit: 'money-month', period, unit: 'micros', mode: 'enforce' },
  ...{ spent: spent * 1e6, held: held * 1e6, limitAmount: limitAmount * 1e6 },
});

test('the lines at the bottom are replaced and what was said above them stays', () => {
  let screen = '';
  const block = liveBlock((text) => (screen += text));
  block.say('first');
  block.show(['a', 'b']);
  block.say('second');
  block.show([]);
  const rows: string[] = [];
  for (const piece of screen.split(ESCAPE)) {
    // `[2F`: two rows up; `[J`: everything from there on is gone.
    const up = /^\[(\d+)F$/.exec(piece)?.[1];
    if (up !== undefined) rows.splice(rows.length - Number(up));
    else rows.push(...piece.replace(/^\[J/, '').split('\n').slice(0, -1));
  }
  expect(rows).toEqual(['first', 'second']);
});

test('of many budgets those used most are shown', () => {
  const figures: Figures = {
    ...{ elapsedMs: 4_200, timeMs: Date.parse('2026-11-21T09:00:00Z'), decided: 80, total: 160, running: 9 },
    limits: [
      budget('acme', 40, 5, 9_000),
      budget('acme/payments', 3.75, 3.65, 7.5),
      budget('a', 1, 1, 9),
      budget('b', 8, 2, 80),
    ],
  };
  expect(figureLine(figures, 'EUR')).toBe(
    '~ 4 s · acme/payments 3.75 spent + 3.65 held of 7.50 EUR · a 1.00 spent + 1.00 held of 9.00 EUR · b 8.00 spent + 2.00 held of 80.00 EUR · 9 jobs run',
  );
});

test.each([
  ['2026-11', 4.8],
  ['2026-10', 7.2],
])('what was spent in %s before the run is told apart', (period, thisRun) => {
  const before = [budget('acme/payments', 2.4, 0, 7.5, period)];
  const now = [budget('acme/payments', 7.2, 0, 7.5)];
  const { groups, ...rest } = new DecisionTally().summary(now, before, undefined);
  expect([groups, rest.limits.map(({ spentThisRun }) => spentThisRun / 1e6)]).toEqual([[], [thisRun]]);
  const money = { spent: 7_200_000, spentThisRun: 4_800_000, held: 0, limitAmount: 7_500_000 };
  const group = { group: 'acme/payments', money, admitted: 18, rejected: 21, rejectedBy: {} };
  expect(renderSummary({ ...rest, groups: [group] }, 'EUR', 80)).toMatch(
    /acme\/payments +7\.20 EUR +4\.80 EUR +18 +21/,
  );
});
