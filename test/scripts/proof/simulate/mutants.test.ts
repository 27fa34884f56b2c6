import { expect, test } from 'vitest';
import { workloadOf } from '../../../../scripts/proof/simulate/draw-workload.ts';
import { simulateMonth } from '../../../../scripts/proof/simulate/month.ts';
import { MUTANTS } from './mutants.ts';

/** Few groups with many jobs each: limits are met, and jobs are in flight whatever happens. */
const crowded = (seed: number) => workloadOf({ seed, jobs: 2_000, groupsByLevel: [2, 2, 3], projects: 6 });
const MONTHS = {
  any: crowded(2),
  silent: crowded(3),
  waiting: workloadOf({ seed: 7, jobs: 6_000, groupsByLevel: [1, 1, 2], projects: 3 }),
};

test.each(MUTANTS)(
  'a month notices that $fault',
  async ({ parts, estimate = 'default', days, month = 'any' as const }) => {
    const workload = MONTHS[month];
    const { comparisons } = await simulateMonth({
      workload,
      estimate,
      table: 'objects',
      parts: parts(),
      stopsAtFinding: true,
      ...(days !== undefined && { days }),
    });
    expect(comparisons.examples).not.toEqual([]);
  },
);
