/** What a job really costs, counted apart from the code under test: whole micro-units, no floating point. */
import type { Unit } from '../../policies/unit.ts';
import type { PlannedJob } from './draw-jobs.ts';
import { PRICE_PER_MINUTE } from './workload.ts';

const DECIMALS = 6;
const MICROS_PER_MINUTE = new Map(
  Object.entries(PRICE_PER_MINUTE).map(([name, price]) => {
    const [whole = '0', part = ''] = price.split('.');
    return [name, BigInt(whole + part.padEnd(DECIMALS, '0'))] as const;
  }),
);

/** Begun seconds count, and begun micro-units. */
export function trueMicros({ kind, durationSeconds }: Pick<PlannedJob, 'kind' | 'durationSeconds'>): number {
  const product = (MICROS_PER_MINUTE.get(kind.runnerClass) ?? 0n) * BigInt(trueSeconds({ durationSeconds }));
  return Number((product + 59n) / 60n);
}

export const trueSeconds = ({ durationSeconds }: Pick<PlannedJob, 'durationSeconds'>): number =>
  Math.ceil(durationSeconds);

/** What a job uses of a counter once it is over; nothing if it never ran or nobody knows it any more. */
export function usedBy(job: PlannedJob, unit: Unit): number {
  if (job.fate !== 'runs' && job.fate !== 'bypass') return 0;
  switch (unit) {
    case 'micros':
      return trueMicros(job);
    case 'seconds':
      return trueSeconds(job);
    case 'starts':
      return 1;
    case 'jobs':
    case 'millicpu':
    case 'bytes':
      return 0;
  }
}
