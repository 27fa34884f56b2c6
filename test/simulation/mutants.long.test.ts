import { expect, test } from 'vitest';
import { drawWorkload } from './month/draw.ts';
import { simulateMonth } from './month/month.ts';
import { MUTANTS } from './mutants.ts';

/** Few groups with many jobs each: limits are met, and jobs are in flight all the time. */
const crowded = (seed: number) => drawWorkload({ seed, jobs: 2_000, groupsByLevel: [2, 2, 3], projects: 6 });
const manyWait = (seed: number) => drawWorkload({ seed, jobs: 6_000, groupsByLevel: [1, 1, 2], projects: 3 });
const MONTHS = {
  any: crowded(2),
  silent: crowded(3),
  waiting: manyWait(7),
  overtaken: manyWait(10),
};

test.each(MUTANTS)(
  'a month notices that $fault',
  async ({ parts, estimate = 'default', days, month = 'any' as const }) => {
    const { comparisons } = await simulateMonth({
      ...{ workload: MONTHS[month], estimate, parts: parts(), stopsAtFinding: true },
      ...(days !== undefined && { days }),
    });
    expect(comparisons.examples).not.toEqual([]);
  },
);
