import type { WorkloadShape } from '../../../../scripts/proof/simulate/workload.ts';

/** A month of some groups and some jobs. */
export const smallShape = (seed: number, jobs: number): WorkloadShape => ({
  seed,
  jobs,
  groupsByLevel: [2, 4, 8],
  projects: 12,
});
