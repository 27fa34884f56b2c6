/**
 * Sums the month's use of a group's direct subgroups, and the group's own rest: mostly projects directly in
 * it. Rows and rest always add up to the total, on pages, in the API and on the command line.
 */
import { dayIn, dayNumber } from '../../../policies/limits/calendar.ts';
import { periodAt } from '../../../policies/limits/period.ts';
import type { Usage } from './usage.ts';

/** Covers the days of this calendar month so far, in the zone of usage. */
export interface UsedInMonth {
  readonly settledMicros: number;
  readonly heldMicros: number;
  readonly seconds: number;
  readonly jobs: number;
}

export interface GroupSum {
  /** Use of the group and everything below it. */
  readonly total: UsedInMonth;
  /** `total` without the groups that are listed. Below 0 where groups were moved here with their usage. */
  readonly rest: UsedInMonth;
  /** Label of the rest. */
  readonly restLabel: string;
}

/** @param below - how many groups there are right below it, listed or not */
export function groupSum(
  subject: string,
  total: UsedInMonth,
  listed: readonly UsedInMonth[],
  below: number,
): GroupSum {
  const rest = usedTogether([total, ...listed.map(negated)]);
  return { total: usedTogether([total]), rest, restLabel: labelOf(subject, rest, listed.length < below) };
}

function labelOf(subject: string, rest: UsedInMonth, isPart: boolean): string {
  if (rest.settledMicros + rest.heldMicros < 0) return 'Used in other groups, before groups were moved here';
  if (subject === 'instance') return 'Personal namespaces, and groups not listed';
  return isPart ? 'Other groups, and projects right in this group' : 'Projects right in this group';
}

export function usedTogether(
  days: readonly Pick<Usage, 'settledMicros' | 'heldMicros' | 'seconds' | 'jobs'>[],
): UsedInMonth {
  const sum = (name: keyof UsedInMonth): number => days.reduce((total, day) => total + day[name], 0);
  return {
    settledMicros: sum('settledMicros'),
    heldMicros: sum('heldMicros'),
    seconds: sum('seconds'),
    jobs: sum('jobs'),
  };
}

/** First day of the month it is, as a `dayNumber`. */
export const firstOfMonth = (zone: string, nowMs: number): number =>
  dayNumber(dayIn(zone, periodAt('month', zone, nowMs).startMs));

const negated = ({ settledMicros, heldMicros, seconds, jobs }: UsedInMonth): UsedInMonth => ({
  settledMicros: -settledMicros,
  heldMicros: -heldMicros,
  seconds: -seconds,
  jobs: -jobs,
});
