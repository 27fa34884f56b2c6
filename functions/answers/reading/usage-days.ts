/** Daily usage from the rollup, in the rollup's zone. */
import { calendarDay, dayIn, dayNumber, isoDay } from '../../../policies/limits/calendar.ts';
import type { RollupStore } from '../../core/usage/rollup-store.ts';
import { type Usage, type UsageKey, usageOf } from '../../core/usage/usage.ts';

export interface DayUsage extends Usage {
  /** `dayNumber` */
  readonly number: number;
  /** `2026-11-21` */
  readonly day: string;
}

/** Per subject its days in order; a day on which nothing happened is there with zeros. */
export type UsageBySubject = ReadonlyMap<string, readonly DayUsage[]>;

export interface DaySpan {
  /** `dayNumber`s, both included. */
  readonly from: number;
  readonly to: number;
}

/** Twenty parallel requests of a hundred keys. */
const PART_KEYS = 2_000;

export const today = (zone: string, nowMs: number): number => dayNumber(dayIn(zone, nowMs));

export const dayText = (number: number): string => isoDay(calendarDay(number));

/** One read per subject and day. @throws {LedgerError} */
export async function readDays(
  subjects: readonly string[],
  { from, to }: DaySpan,
  store: Pick<RollupStore, 'readUsage'>,
): Promise<UsageBySubject> {
  const numbers = Array.from({ length: Math.max(0, to - from + 1) }, (_, index) => from + index);
  const distinct = [...new Set(subjects)];
  const keys = distinct.flatMap((subject) =>
    numbers.map((number): UsageKey => ({ subject, day: dayText(number) })),
  );
  const usages: Usage[] = [];
  for (let start = 0; start < keys.length; start += PART_KEYS)
    usages.push(...(await store.readUsage(keys.slice(start, start + PART_KEYS))).map(usageOf));
  return new Map(
    distinct.map((subject, at) => [
      subject,
      numbers.flatMap((number, index): DayUsage[] => {
        const usage = usages[at * numbers.length + index];
        return usage === undefined ? [] : [{ ...usage, number, day: dayText(number) }];
      }),
    ]),
  );
}
