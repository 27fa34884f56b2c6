/** What the README promises of money. Everything here is computed: a failure is a change of code or prices. */
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import {
  monitoringOf,
  ROLLUP_WINDOW_SECONDS,
  SETTLE_WINDOW_SECONDS,
  SYSTEM_LINES,
} from '../../../../scripts/cli/cost/assumptions.ts';
import { type CostQuestion, costing, expectedBatches } from '../../../../scripts/cli/cost/costing.ts';

const question: CostQuestion = {
  jobsPerMonth: 1_000_000,
  batch: 5,
  settleBatch: 5,
  rollupBatch: 5,
  counters: 3,
  rejectedShare: 0.02,
  groups: 300,
  parameters: 0,
  visits: 0,
  region: 'us-east-1',
  shape: {
    relays: 2,
    admitRoute: 'url',
    watchdog: false,
    console: false,
    tableKey: false,
    builtImage: true,
    systemLines: SYSTEM_LINES,
    logRetentionDays: 30,
  },
};

test('idle, the default shape costs at most $40.60 a month', () => {
  expect(costing(question).idlePerMonth).toBeLessThanOrEqual(40.6);
  expect(monitoringOf(question.shape).customMetrics).toBeLessThanOrEqual(36);
});

test('a million admissions and settlements in batches of five cost at most $8', () => {
  expect(costing(question).admissionsPerMillion).toBeLessThanOrEqual(8);
});

test('a million jobs a month that come one by one cost at most $25 with everything that follows', () => {
  const alone = { ...question, ...expectedBatches(1_000_000, question.shape.relays) };
  expect([alone.batch, alone.settleBatch]).toEqual([1, 1]);
  expect(costing(alone).allPerMillion).toBeLessThanOrEqual(25);
});

test('nothing that follows from a job grows unseen', () => {
  expect(costing(question).allPerMillion).toBeLessThanOrEqual(21);
});

test('the windows that batches are reckoned from are those that are deployed', () => {
  const resources = readFileSync(new URL('../../../cdk/resources.txt', import.meta.url), 'utf8');
  for (const [source, seconds] of [
    ['SettleStreamConsumerSource', SETTLE_WINDOW_SECONDS],
    ['RollupConsumerSource', ROLLUP_WINDOW_SECONDS],
  ] as const) {
    const line = resources.split('\n').find((each) => each.startsWith(source));
    expect(line).toContain(`MaximumBatchingWindowInSeconds=${seconds} `);
  }
});
