/** What a job really costs, counted apart from the code under test: whole micro-units. */

import type { PlannedJob } from './draw-jobs.ts';
import { type CountedUnit, costOf, priceAt } from './expected/edition.ts';
import { SIMULATED_PRICES } from './workload.ts';

/** At the prices of an instant. Begun seconds count, and begun micro-units. */
export const trueMicros = (
  { kind, durationSeconds }: Pick<PlannedJob, 'kind' | 'durationSeconds'>,
  atMs: number,
): number => costOf(durationSeconds, priceAt(SIMULATED_PRICES, atMs).rates[kind.runnerClass] ?? 0);

export const trueSeconds = ({ durationSeconds }: Pick<PlannedJob, 'durationSeconds'>): number =>
  Math.ceil(durationSeconds);

/** What a job uses of a counter once it is over; nothing if it never ran or nobody knows it any more. */
export function usedBy(job: PlannedJob, unit: CountedUnit, atMs: number): number {
  if (job.fate !== 'runs' && job.fate !== 'bypass') return 0;
  switch (unit) {
    case 'micros':
      return trueMicros(job, atMs);
    case 'seconds':
      return trueSeconds(job);
    case 'starts':
      return 1;
    case 'jobs':
      return 0;
  }
}
