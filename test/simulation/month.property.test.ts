import fc from 'fast-check';
import { expect, test } from 'vitest';
import { FULL } from '../support/property-runs.ts';
import { drawWorkload } from './month/draw.ts';
import { simulateMonth } from './month/month.ts';
import type { WorkloadShape } from './month/shape.ts';

const smallShape = (seed: number, jobs: number): WorkloadShape => ({
  ...{ seed, jobs, groupsByLevel: [2, 4, 8], projects: 12 },
});

const JOBS = FULL ? 2_000 : 1_000;

test('a month with every trouble ends with the books at the truth', async () => {
  // Includes a job that GitLab forgets, and jobs that ask while the table is silent.
  const month = await simulateMonth({ workload: drawWorkload(smallShape(14, JOBS)), estimate: 'history' });
  const { bypass, unchanged, sweeps, waits, relays, rejected, askedAgain, comparisons } = month;
  expect(month.problems).toEqual([]);
  // Otherwise the promises would say nothing.
  expect(month.admitted + rejected + bypass).toBeGreaterThanOrEqual(JOBS);
  expect(rejected).toBeGreaterThan(0);
  expect(sweeps.healed).toBeGreaterThan(JOBS * 0.03);
  expect(Math.min(sweeps.silent, sweeps.due, sweeps.unadmitted)).toBeGreaterThan(0);
  expect(Math.min(waits.admitted, waits.rejected)).toBeGreaterThan(0);
  expect(waits.longestMs).toBeGreaterThan(15_000);
  expect(Math.min(bypass, unchanged, relays.askedTwice)).toBeGreaterThan(0);
  expect(askedAgain).toBeGreaterThan(JOBS * 0.05);
  for (const { compared } of Object.values(comparisons.counts)) expect(compared).toBeGreaterThan(JOBS / 4);
});

const MONTHS = FULL ? 25 : 2;

test('in any month nothing is held after the last sweep and every run is charged exactly once', {
  timeout: 600_000,
}, async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 0, max: 0xffff_ffff }),
      fc.integer({ min: 50, max: 400 }),
      fc.constantFrom('history' as const, 'default' as const),
      async (seed, jobs, estimate) => {
        const month = await simulateMonth({ workload: drawWorkload(smallShape(seed, jobs)), estimate });
        expect(month.problems).toEqual([]);
      },
    ),
    // The first month that fails is reported: a smaller seed is no simpler month, and each takes two seconds.
    { numRuns: MONTHS, endOnFailure: true },
  );
});
