/** The month as it will be, drawn before anybody asks: places, jobs and what happens to each. */
import { seededRandom } from '../../local/seeded-random.ts';
import { drawGroups, type Places } from './draw-groups.ts';
import { drawJobs, type PlannedJob } from './draw-jobs.ts';
import type { Shape } from './workload.ts';

export interface Workload {
  readonly shape: Shape;
  readonly places: Places;
  /** In the order of their questions. */
  readonly jobs: readonly PlannedJob[];
}

export function workloadOf(shape: Shape): Workload {
  const random = seededRandom(shape.seed);
  const places = drawGroups(shape, random);
  return { shape, places, jobs: drawJobs(shape, places, random) };
}
