import { expect, test } from 'vitest';
import { workloadOf } from '../../../../scripts/proof/simulate/draw-workload.ts';
import { ESTIMATES, type EstimateName } from '../../../../scripts/proof/simulate/estimators.ts';
import { chargedPerTrue, invariantsOf } from '../../../../scripts/proof/simulate/invariants.ts';
import { type MonthResult, simulateMonth } from '../../../../scripts/proof/simulate/month.ts';
import { wrongOf } from '../../../../scripts/proof/simulate/report-text.ts';
import { smallShape } from './small-shape.ts';

const JOBS = 2_000;
/** Includes a job that GitLab forgets, and jobs that ask while the table is silent. */
const workload = workloadOf(smallShape(14, JOBS));

const months = new Map<EstimateName, Promise<MonthResult>>();

/** Drawn once: every run of it is the same. */
function monthBy(estimate: EstimateName): Promise<MonthResult> {
  const month = months.get(estimate) ?? simulateMonth({ workload, estimate });
  months.set(estimate, month);
  return month;
}

const broken = (month: MonthResult) => invariantsOf(month).filter(({ holds }) => !holds);

test.each(ESTIMATES)('a month with holds by %s ends with the books at the truth', async (estimate) => {
  const month = await monthBy(estimate);
  expect(broken(month)).toEqual([]);
  expect(month.comparisons.examples).toEqual([]);
  expect(chargedPerTrue(month)).toBe('1.000000');
  expect(BigInt(month.audit.chargedMicros)).toBeGreaterThan(0n);
  expect(month.admitted + month.rejected + (month.ends.bypass ?? 0)).toBeGreaterThanOrEqual(JOBS);
});

test('a small month has every trouble of the large one, so that its invariants say something', async () => {
  const { ends, sweeps, slots, waits, relays, rejected, askedAgain, edits, comparisons, audit } =
    await monthBy('history');
  expect(rejected).toBeGreaterThan(0);
  expect(sweeps.healed).toBeGreaterThan(JOBS * 0.03);
  expect(sweeps.silent).toBeGreaterThan(0);
  expect(sweeps.due).toBeGreaterThan(0);
  expect(sweeps.unadmitted).toBeGreaterThan(0);
  expect(slots.maxMs).toBeGreaterThan(60_000);
  expect(waits.admitted).toBeGreaterThan(0);
  expect(waits.rejected).toBeGreaterThan(0);
  expect(waits.longestMs).toBeGreaterThan(15_000);
  expect(ends.bypass).toBeGreaterThan(0);
  expect(ends.unchanged).toBeGreaterThan(0);
  expect(relays.askedTwice).toBeGreaterThan(0);
  expect(askedAgain).toBeGreaterThan(JOBS * 0.05);
  expect(edits).toBeGreaterThan(10);
  for (const { compared } of Object.values(comparisons.counts)) expect(compared).toBeGreaterThan(500);
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
  const [history, timeout] = [await monthBy('history'), await monthBy('timeout')];
  expect(wrongOf(history)).toBeLessThan(wrongOf(timeout) / 2);
});

test('a hold of the whole timeout is never overrun', async () => {
  const { audit } = await monthBy('timeout');
  expect(audit.actualPerHold.p90).toBeLessThanOrEqual(1_000);
  expect(audit.overLimit.causes.overrun).toEqual({ jobs: 0, micros: 0 });
});
