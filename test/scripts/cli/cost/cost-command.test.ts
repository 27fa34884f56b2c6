import { expect, test } from 'vitest';
import { aProject, runDesk } from '../desk-run.ts';

const cost = (...flags: readonly string[]) => runDesk(['cost', ...flags], aProject());

async function answered(...flags: readonly string[]) {
  const jobs = flags.some((flag) => flag.startsWith('--jobs')) ? [] : ['--jobs-per-month=1000000'];
  const { code, out, err } = await cost(...jobs, '--json', ...flags);
  expect({ code, err }).toEqual({ code: 0, err: '' });
  const answer = JSON.parse(out);
  const quantity = (label: string): number | undefined =>
    answer.lines.find((line: { readonly label: string }) => line.label === label)?.quantity;
  return { ...answer, quantity };
}

test('sums are made of the lines, and every line of a quantity and a price with source and date', async () => {
  const { lines, prices, totals } = await answered('--batch', '5', '--console', '1000');
  const sum = (...parts: readonly string[]): number =>
    lines.reduce((total: number, { part, usd }: { readonly part: string; readonly usd: number }) => {
      return parts.includes(part) ? total + usd : total;
    }, 0);
  for (const line of lines) {
    const price = prices[line.price];
    expect(line.usd).toBe((line.quantity * price.usd) / price.per);
    expect(price.source).toMatch(/^https:\/\/aws\.amazon\.com\/.+\/$/);
    expect(price.readOn).toMatch(/^20\d\d-\d\d-\d\d$/);
  }
  expect(totals.idlePerMonth).toBeCloseTo(sum('always'), 9);
  expect(totals.busyPerMonth).toBeCloseTo(sum('busy'), 9);
  expect(totals.consolePerMonth).toBeCloseTo(sum('console'), 9);
  expect(totals.admissionsPerMillion).toBeCloseTo(sum('admission') * 1e6, 6);
  expect(totals.allPerMillion).toBeCloseTo(sum('admission', 'usage', 'kept') * 1e6, 6);
  expect(totals.perMonth).toBeCloseTo(sum('always', 'busy', 'console') + totals.allPerMillion, 6);
});

test.each([
  ['300000', '--watchdog'],
  ['300000', '--nat', '2', '--console', '10', '--region', 'eu-central-1'],
  ['1000000000', '--watchdog', '--batch', '1', '--counters', '24'],
])('for people: %s jobs fit 80 columns, and it says what is not in it', async (jobs, ...flags) => {
  const { out, code } = await cost('--jobs-per-month', jobs, ...flags);
  expect(code).toBe(0);
  expect(out.split('\n').filter((line) => line.length > 80)).toEqual([]);
  expect(out).toContain('Free tiers and discounts are not deducted');
  expect(out).toMatch(/[\d,]+ jobs a month, idle included +\d+\.\d\d\n/);
});

test.each([
  [['--jobs-per-month', '1', '--batch', '0'], '--batch "0"'],
  [['--jobs-per-month', 'many'], '--jobs-per-month "many"'],
  [['--jobs-per-month', '1', '--region', 'eu-west-9'], '--region "eu-west-9": expected us-east-1, us-east-2'],
  [[], '--jobs-per-month is missing'],
])('%j is refused with its value', async (flags, refusal) => {
  const { code, err } = await cost(...flags);
  expect(code).toBe(3);
  expect(err).toContain(refusal);
});
