import { expect, test } from 'vitest';
import { workloadOf } from '../../../scripts/simulate/draw-workload.ts';
import { ESTIMATES } from '../../../scripts/simulate/estimators.ts';
import { chargedPerTrue, invariantsOf } from '../../../scripts/simulate/invariants.ts';
import { type MonthResult, simulateMonth } from '../../../scripts/simulate/month.ts';
import { wrongOf } from '../../../scripts/simulate/report-text.ts';
import { smallShape } from '../../../scripts/simulate/workload.ts';

const JOBS = 2_000;
const workload = workloadOf(smallShape(1, JOBS));

const broken = (month: MonthResult) => invariantsOf(month).filter(({ holds }) => !holds);

test.each(ESTIMATES)('a month with holds by %s ends with the books at the truth', async (estimate) => {
  const month = await simulateMonth({ workload, estimate });
  expect(broken(month)).toEqual([]);
  expect(chargedPerTrue(month)).toBe('1.000000');
  expect(BigInt(month.audit.chargedMicros)).toBeGreaterThan(0n);
  expect(month.admitted + month.rejected + (month.ends.bypass ?? 0)).toBeGreaterThanOrEqual(JOBS);
});

test('a small month has every trouble of the large one, so that its invariants say something', async () => {
  const { ends, sweeps, slots, relays, rejected, audit } = await simulateMonth({
    workload,
    estimate: 'history',
  });
  expect(rejected).toBeGreaterThan(0);
  expect(sweeps.healed).toBeGreaterThan(JOBS * 0.03);
  expect(sweeps.silent).toBeGreaterThan(0);
  expect(sweeps.due).toBeGreaterThan(0);
  expect(sweeps.unadmitted).toBeGreaterThan(0);
  expect(slots.maxMs).toBeGreaterThan(60_000);
  expect(ends.bypass).toBeGreaterThan(0);
  expect(ends.unchanged).toBeGreaterThan(0);
  expect(relays.askedTwice).toBeGreaterThan(0);
  expect(audit.overLimit.counters).toBeGreaterThan(0);
});

test('the same seed gives the same month', async () => {
  const shape = smallShape(7, 400);
  const months = [];
  for (let time = 0; time < 2; time += 1)
    months.push(await simulateMonth({ workload: workloadOf(shape), estimate: 'history' }));
  expect(months[0]).toEqual(months[1]);
});

test("a month on the table of plain objects is the same as on the ledger's own", async () => {
  const shorter = workloadOf(smallShape(3, 1_000));
  const memory = await simulateMonth({ workload: shorter, estimate: 'default', table: 'memory' });
  expect(await simulateMonth({ workload: shorter, estimate: 'default', table: 'objects' })).toEqual(memory);
});

test('holds by history reject fewer jobs that would have fitted than holds by the timeout', async () => {
  const history = await simulateMonth({ workload, estimate: 'history' });
  const timeout = await simulateMonth({ workload, estimate: 'timeout' });
  expect(wrongOf(history)).toBeLessThan(wrongOf(timeout) / 2);
});

test('a hold of the whole timeout is never overrun', async () => {
  const { audit } = await simulateMonth({ workload, estimate: 'timeout' });
  expect(audit.actualPerHold.p90).toBeLessThanOrEqual(1_000);
  expect(audit.overLimit.causes.overrun).toEqual({ jobs: 0, micros: 0 });
});
