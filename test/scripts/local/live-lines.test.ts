import { expect, test } from 'vitest';
import { figureLine } from '../../../scripts/local/screen.ts';
import { DecisionTally, type LimitSummary, renderSummary } from '../../../scripts/local/summary.ts';

const budget = (subject: string, spent: number, held: number, limitAmount: number): LimitSummary => ({
  ...{ subject, limit: 'money-month', period: '2026-11', unit: 'micros', mode: 'enforce' },
  ...{ spent: spent * 1e6, held: held * 1e6, limitAmount: limitAmount * 1e6 },
});

test('of many budgets those used most are shown', () => {
  const limits = [
    budget('acme', 40, 5, 9_000),
    budget('acme/payments', 3.75, 3.65, 7.5),
    budget('a', 1, 1, 9),
    budget('b', 8, 2, 80),
  ];
  expect(figureLine({ elapsedMs: 4_200, decided: 80, running: 9, limits }, 'EUR')).toBe(
    '~ 4 s · acme/payments 3.75 spent + 3.65 held of 7.50 EUR · a 1.00 spent + 1.00 held of 9.00 EUR · b 8.00 spent + 2.00 held of 80.00 EUR · 9 jobs run',
  );
});

test('a group has its money, its decisions and their rules in the summary', () => {
  const { groups: _, ...rest } = new DecisionTally().summary(
    [budget('acme/payments', 7.2, 0, 7.5)],
    undefined,
  );
  const group = { group: 'acme/payments', admitted: 18, rejected: 21, rejectedBy: { 'A (b)': 21 } };
  expect(renderSummary({ ...rest, groups: [group] }, 'EUR', 80)).toMatch(
    /acme\/payments +7\.20 EUR +18 +21 +21× A \(b\)/,
  );
});
