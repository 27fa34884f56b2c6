/** The month as it will be, drawn before anybody asks: places, jobs and what happens to each. */
import { seededRandom } from '../../local/random.ts';
import { type DrawnPlaces, drawGroups } from './draw-groups.ts';
import { drawJobs, type PlannedJob } from './draw-jobs.ts';
import type { WorkloadShape } from './workload.ts';

export interface Workload {
  readonly shape: WorkloadShape;
  readonly places: DrawnPlaces;
  /** In the order of their questions. */
  readonly jobs: readonly PlannedJob[];
}

export function workloadOf(shape: WorkloadShape): Workload {
  const random = seededRandom(shape.seed);
  const places = drawGroups(shape, random);
  return { shape, places, jobs: drawJobs(shape, places, random) };
}
