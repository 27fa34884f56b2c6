import { expect, test } from 'vitest';
import { budgetBench } from '../budget/budget-bench.ts';

/** On 21 November: three euros a working day since the first days of August. */
async function house() {
  const bench = await budgetBench();
  const perDay = Array.from({ length: 108 }, (_, index) => (index % 7 < 5 ? 300_000 : 0));
  await bench.spend('group/101', perDay);
  return bench;
}

test('the forecast of a limit stands above every month that was forecast, and how far off they were', async () => {
  const { run, json } = await house();
  const { out, code } = await run('report forecast', ['acme/payments']);
  expect(code).toBe(0);
  const [head, sentence, , titles, first] = out.split('\n');
  expect(head).toBe('acme/payments money-month: 7.50 EUR/month');
  expect(sentence).toMatch(
    /^Forecast \d+\.\d\d EUR \(\d+\.\d\d to \d+\.\d\d\); over the last 2 months it was off by [\d.]+ % on average\.$/,
  );
  expect(titles?.split(/ {2,}/)).toEqual([
    'month',
    'after days',
    'forecast',
    'from',
    'to',
    'came to',
    'off by %',
  ]);
  expect(first).toMatch(/^2026-09 +7 /);
  expect(out).toMatch(/Off by [\d.]+ % on average over 2 months; the band held [\d.]+ % of them\.\n/);
  const told = await json('report forecast', 'acme/payments');
  expect(told).toMatchObject({ subject: 'group/101', path: 'acme/payments', currency: 'EUR' });
  const [{ tested }] = told.limits;
  expect(tested.forecasts).toHaveLength(6);
  expect(tested.errorPercent).toBeLessThan(10);
});
