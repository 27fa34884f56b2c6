/** What the README promises of money. Everything here is computed: a failure is a change of code or prices. */
import { expect, test } from 'vitest';
import { type CostQuestion, costing } from '../../../../scripts/cli/cost/costing.ts';
import { monitoringOf, SYSTEM_LINES } from '../../../../scripts/cli/cost/shape.ts';

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

test('idle, the default shape costs at most $39.90 a month', () => {
  expect(costing(question).idlePerMonth).toBeLessThanOrEqual(39.9);
  expect(monitoringOf(question.shape).customMetrics).toBeLessThanOrEqual(34);
});

test('a million admissions and settlements in batches of five cost at most $8', () => {
  expect(costing(question).admissionsPerMillion).toBeLessThanOrEqual(8);
});

test('nothing that follows from a job grows unseen', () => {
  expect(costing(question).allPerMillion).toBeLessThanOrEqual(25);
});
