/** What the README promises of money. Everything here is counted: a failure is a change of code or prices. */
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import {
  type CostInput,
  estimate,
  expectedBatches,
  holdUnits,
  MEASURED,
  monitoringOf,
  ROLLUP_WINDOW_SECONDS,
} from '../../../../scripts/cli/cost/estimate.ts';
import { measureJob } from './job-units.ts';

const question: CostInput = {
  ...{ jobsPerMonth: 1_000_000, batch: 5, rollupBatch: 5, counters: 3, region: 'us-east-1', relays: 2 },
  ...{ watchdog: false, visits: undefined, natGateways: 0, edge: false },
};
const alone = { ...question, ...expectedBatches(1_000_000, 2) };

test.each([
  { dollars: 33, what: 'an idle month', of: estimate(question).totals.idlePerMonth },
  { dollars: 8, what: 'a million admissions in fives', of: estimate(question).totals.admissionsPerMillion },
  { dollars: 20.5, what: 'a million jobs in fives with all', of: estimate(question).totals.allPerMillion },
  { dollars: 22, what: 'a million jobs one by one with all', of: estimate(alone).totals.allPerMillion },
])('$what costs at most $dollars', ({ dollars, of }) => {
  expect(of).toBeLessThanOrEqual(dollars);
  expect(of).toBeGreaterThan(dollars / 2);
});

test('an idle hour writes two custom metrics', () => {
  expect(monitoringOf(question).customMetrics).toBe(2);
});

test.each([
  [1, 1],
  [1, 5],
  [5, 5],
])(
  'jobs in batches of %d, summed up in batches of %d, cost the table what is written down',
  async (batch, size) => {
    const [row, column] = [batch === 1 ? 0 : 1, size === 1 ? 0 : 1];
    const { dueIndex, ledgerReads, recordBytes } = MEASURED;
    const counted = await measureJob(batch, size);
    expect(counted, 'scripts/cli/cost/estimate.ts is not what is counted now').toMatchObject({
      ...{ hold: holdUnits(batch, 3), settle: holdUnits(batch, 3), dueIndex, ledgerReads },
      ...{ usage: MEASURED.usage[row]?.[column], usageReads: MEASURED.usageReads[row]?.[column] },
    });
    expect(Math.abs(counted.recordBytes - recordBytes)).toBeLessThan(10);
  },
);

test('the window that batches are reckoned from is the one that is deployed', () => {
  const resources = readFileSync(new URL('../../../cdk/resources.txt', import.meta.url), 'utf8');
  const line = resources.split('\n').find((each) => each.startsWith('RollupConsumerSource'));
  expect(line).toContain(`MaximumBatchingWindowInSeconds=${ROLLUP_WINDOW_SECONDS} `);
});
