/** What a limit that is new would have counted by then: its subject's days, from the rollup. */
import { calendarDay, dayIn, dayNumber, dayStartMs } from '../../../policies/limits/calendar.ts';
import type { Limit } from '../../../policies/limits/limit.ts';
import type { Directory } from '../../../policies/place/directory.ts';
import type { JobRecord } from '../../core/ledger/index.ts';
import { contributionOf, runnerNames, type Usage, usageOf } from '../../core/usage/index.ts';
import type { ReadContext } from '../reading/reading.ts';
import { readDays } from '../reading/usage-days.ts';
import { usedOn } from '../standing/outlook.ts';
import { JobSubjects } from './job-subjects.ts';

export interface PriorUsage {
  readonly of: (
    limit: Limit,
    startMs: number,
    replay: { readonly fromMs: number; readonly records: readonly JobRecord[] },
  ) => Promise<number>;
  /** Nobody was left out. */
  readonly complete: boolean;
}

/** A default for a pattern makes a limit of each group: so many are looked up, of the rest nothing is taken to be used. */
const LOOKUPS_MAX = 50;
/** A year; what began before, and is never over, is not known longer. */
const DAYS_MAX = 396;

export function usedBefore(
  { usage, zone }: Pick<ReadContext, 'usage' | 'zone'>,
  directory: Directory,
): PriorUsage {
  let lookups = 0;
  const numberOf = (atMs: number): number => dayNumber(dayIn(zone, atMs));
  const startOf = (day: number): number => dayStartMs(zone, calendarDay(day));
  return {
    get complete() {
      return lookups <= LOOKUPS_MAX;
    },
    of: async (limit, startMs, { fromMs, records }) => {
      if (limit.per === 'minute' || limit.per === 'hour') return 0;
      lookups += 1;
      if (lookups > LOOKUPS_MAX) return 0;
      const to = numberOf(fromMs - 1);
      const from = Number.isFinite(startMs) ? Math.max(numberOf(startMs), to - DAYS_MAX) : to - DAYS_MAX;
      const days = (await readDays([limit.subject], { from, to }, usage)).get(limit.subject) ?? [];
      const subjects = new JobSubjects([limit.subject], directory);
      const [firstMs, endMs] = [startOf(from), startOf(to + 1)];
      // Jobs of the replay count by themselves.
      const own = records.filter(
        (record) =>
          record.decidedAtMs >= firstMs && record.decidedAtMs < endMs && subjects.of(record).length > 0,
      );
      const total = days.reduce((sum, day) => sum + usedOn(day, limit.kind), 0);
      const counted = own.reduce((sum, record) => sum + usedOn(usageOfJob(record), limit.kind), 0);
      return Math.max(0, total - counted);
    },
  };
}

/** As the rollup counts it. */
const usageOfJob = (record: JobRecord): Usage =>
  usageOf(contributionOf(record, undefined, () => ({ day: '', subjects: [] }), runnerNames()).tally);
