import { expect, test } from 'vitest';
import { workloadOf } from '../../../../scripts/proof/simulate/draw-workload.ts';
import { simulateMonth } from '../../../../scripts/proof/simulate/month.ts';
import { MUTANTS } from './mutants.ts';

/** Few groups with many jobs each: limits are met, and jobs are in flight whatever happens. */
const [crowded, alsoCrowded] = [2, 3].map((seed) =>
  workloadOf({ seed, jobs: 2_000, groupsByLevel: [2, 2, 3], projects: 6 }),
);

test.each(MUTANTS)(
  'a month notices that $fault',
  async ({ parts, estimate = 'default', days, inTheOther }) => {
    const workload = inTheOther === true ? alsoCrowded : crowded;
    if (workload === undefined) throw new RangeError('no such month');
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
