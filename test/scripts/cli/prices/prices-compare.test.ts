import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { comparePrices } from '../../../../scripts/cli/compare-prices.ts';
import { aRequest, ledgerBench } from '../ledger-bench.ts';

/** Ten minutes on `small` at 0.10 and five on `large` at 0.60. */
async function house() {
  const bench = ledgerBench({ policy: { rules: [{ id: 'budgets', kind: 'budget', mode: 'enforce' }] } });
  await bench.ask([aRequest(1), aRequest(2, { runnerTags: ['large'] })]);
  bench.clock.advance(600_000);
  const endedAtMs = bench.clock.nowMs();
  await bench.ledger.settle([
    { jobId: 1, durationSeconds: 600, endedAtMs },
    { jobId: 2, durationSeconds: 300, endedAtMs },
  ]);
  const run = async (name: string, bill: string | Uint8Array, ...args: string[]) => {
    writeFileSync(join(bench.folder, name), bill);
    return bench.run('prices compare', [name, '--month', '2026-11', ...args]);
  };
  const json = async (name: string, bill: string | Uint8Array, ...args: string[]) =>
    JSON.parse((await run(name, bill, '--json', ...args)).out);
  return { run, json };
}

const csv = (rows: readonly (readonly string[])[]): string =>
  rows.map((row) => row.map((cell) => `"${cell.replaceAll('"', '""')}"`).join(',')).join('\r\n');

const focus = (...lines: readonly (readonly [cost: string, tags: object | null, start?: string])[]): string =>
  csv([
    ['ChargePeriodStart', 'EffectiveCost', 'BillingCurrency', 'Tags', 'ServiceName'],
    ...lines.map(([cost, tags, start = '2026-11-05T00:00:00Z']) => [
      start,
      cost,
      'EUR',
      tags === null ? '' : JSON.stringify(tags),
      'EC2',
    ]),
  ]);

const FOCUS_BILL = focus(
  ['1.2', { 'tollgate-class': 'small' }],
  ['8E-1', { 'user:tollgate-class': 'small' }],
  ['1.5', { 'tollgate-class': 'large' }],
  ['0.25', null],
  ['0.0000004', { 'tollgate-class': 'manager' }],
  ['-0.05', { team: 'x' }],
  ['99', { 'tollgate-class': 'small' }, '2026-10-31T23:00:00Z'],
);

test('classes of a FOCUS bill cost what their lines say, and all rows add up to bill and statement', async () => {
  const { json } = await house();
  const told = await json('bill.csv', FOCUS_BILL);
  expect(told.classes).toEqual([
    {
      runnerClass: 'large',
      seconds: 300,
      chargedMicros: 3_000_000,
      billMicros: 1_500_000,
      billMicrosPerMinute: 300_000,
      chargedMicrosPerMinute: 600_000,
    },
    { runnerClass: 'free', seconds: 0, chargedMicros: 0, billMicros: 0 },
    {
      runnerClass: 'small',
      seconds: 600,
      chargedMicros: 1_000_000,
      billMicros: 2_000_000,
      billMicrosPerMinute: 200_000,
      chargedMicrosPerMinute: 100_000,
    },
  ]);
  expect(told.otherBillMicros).toBe(200_000);
  expect(told.total).toEqual({ seconds: 900, chargedMicros: 4_000_000, billMicros: 3_700_000 });
  expect(told.bill).toMatchObject({ currency: 'EUR', lines: 6, linesOfOtherMonths: 1 });
});

test('a packed bill in another currency needs the rate, and costs are converted by it', async () => {
  const { json, run } = await house();
  const bill = FOCUS_BILL.replaceAll('"EUR"', '"USD"');
  await expect(run('bill.csv', bill)).rejects.toThrow(/is in USD, prices are in EUR; expected --rate/);
  const told = await json('bill.csv.gz', gzipSync(bill), '--rate', '0.9');
  const cost = Object.fromEntries(
    told.classes.map((row: { runnerClass: string; billMicros: number }) => [row.runnerClass, row.billMicros]),
  );
  expect(cost).toEqual({ small: 1_800_000, large: 1_350_000, free: 0 });
  expect(told.otherBillMicros).toBe(180_000);
  expect(told.total.billMicros).toBe(3_330_000);
});

test.each([
  ['other columns', 'bill.csv', 'a,b\n1,2\n', /lacks the columns EffectiveCost, .*; expected a FOCUS export/],
  ['nothing', 'bill.csv', '', /is empty/],
  [
    'another month',
    'bill.csv',
    focus(['1', null, '2026-10-01T00:00:00Z']),
    /no line of 2026-11, and 1 of other/,
  ],
  ['a cell too many', 'bill.csv', `${focus(['1', null])}\r\n1,2,3\r\n`, /is no CSV, near line 3/],
  ['no gzip', 'bill.csv.gz', 'x', /is not gzip; unpack it/],
])('a file with %s is refused', async (_, name, bill, message) => {
  const { run } = await house();
  await expect(run(name, bill)).rejects.toThrow(message);
});

test('whatever a bill has, rows add up to it to the micro-unit', () => {
  const value = fc.option(fc.constantFrom('small', 'large', 'other', 'x'), { nil: undefined });
  const costs = fc.uniqueArray(fc.tuple(value, fc.double({ min: -1e6, max: 1e8, noNaN: true })), {
    selector: ([name]) => name,
  });
  fc.assert(
    fc.property(costs, fc.integer({ min: 1, max: 5_000_000 }), (lines, rateMicros) => {
      const { classes, otherBillMicros, total } = comparePrices(
        { costs: new Map(lines) },
        rateMicros,
        new Map(),
        ['small', 'large'],
      );
      expect(classes.reduce((sum, { billMicros }) => sum + billMicros, otherBillMicros)).toBe(
        total.billMicros,
      );
      const cost = lines.reduce((sum, [, each]) => sum + each, 0);
      expect(Math.abs(total.billMicros - cost * rateMicros)).toBeLessThanOrEqual(1);
    }),
  );
});
