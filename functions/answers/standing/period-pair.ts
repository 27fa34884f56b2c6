import type { Limit } from '../../../policies/limits/limit.ts';
import { limitPeriod } from '../../../policies/limits/limits.ts';
import type { Period } from '../../../policies/limits/period.ts';

/** The period a limit counts in now, and the one before; undefined for what has none. */
export interface PeriodPair {
  readonly current?: Period;
  readonly previous?: Period;
}

/**
 * Remembers each kind and zone for as long as it is kept, which is one page: going back and forth between two periods of
 * thousands of limits, the calendar would be asked for every one of them.
 */
export function periodPairs(nowMs: number): (limit: Limit) => PeriodPair {
  const known = new Map<string, PeriodPair>();
  return (limit) => {
    const name = `${limit.per} ${limit.zone} ${limit.fiscalStart ?? ''}`;
    const pair = known.get(name) ?? pairOf(limit, nowMs);
    known.set(name, pair);
    return pair;
  };
}

function pairOf(limit: Limit, nowMs: number): PeriodPair {
  const current = limitPeriod(limit, nowMs);
  if (current === undefined) return {};
  if (!Number.isFinite(current.startMs)) return { current };
  const previous = limitPeriod(limit, current.startMs - 1);
  return { current, ...(previous !== undefined && { previous }) };
}
