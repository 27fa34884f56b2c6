import { calendarDay, dayIn, dayNumber, isoDay } from '../../../policies/limits/calendar.ts';
import { readInParts } from '../../core/store/parts.ts';
import type { RollupStore } from '../../core/usage/rollup-store.ts';
import { type Usage, type UsageTally, usageOf } from '../../core/usage/usage.ts';

export interface DayUsage extends Usage {
  readonly number: number;
  readonly day: string;
}

/** Per subject its days in order; a day on which nothing happened is there with zeros. */
export type UsageBySubject = ReadonlyMap<string, readonly DayUsage[]>;

export interface DaySpan {
  /** `dayNumber`s, both included. */
  readonly from: number;
  readonly to: number;
}

export const today = (zone: string, nowMs: number): number => dayNumber(dayIn(zone, nowMs));

export const dayText = (number: number): string => isoDay(calendarDay(number));

export const dayTexts = ({ from, to }: DaySpan) => ({ fromDay: dayText(from), toDay: dayText(to) });

/** Returns the last days up to and including today: as many as requested, within the bounds. */
export function lastDays(
  zone: string,
  nowMs: number,
  requested: number | undefined,
  bounds: { readonly usual: number; readonly max: number },
): DaySpan {
  const to = today(zone, nowMs);
  return { from: to - Math.min(bounds.max, Math.max(1, requested ?? bounds.usual)) + 1, to };
}

export interface DayTally extends Pick<DayUsage, 'number' | 'day'> {
  readonly tally: UsageTally;
}

/** Reads the days of each subject, in order: one read per subject and day. @throws {LedgerError} */
export async function readTallies(
  subjects: readonly string[],
  { from, to }: DaySpan,
  store: Pick<RollupStore, 'readUsage'>,
): Promise<ReadonlyMap<string, readonly DayTally[]>> {
  const numbers = Array.from({ length: Math.max(0, to - from + 1) }, (_, index) => from + index);
  const keys = [...new Set(subjects)].flatMap((subject) =>
    numbers.map((number) => ({ subject, number, day: dayText(number) })),
  );
  const tallies = await readInParts(keys, (some) => store.readUsage(some));
  const days = keys.map((key, index) => ({ ...key, tally: tallies[index] ?? new Map() }));
  return Map.groupBy(days, ({ subject }) => subject);
}

export async function readDays(
  subjects: readonly string[],
  span: DaySpan,
  store: Pick<RollupStore, 'readUsage'>,
): Promise<UsageBySubject> {
  const found = await readTallies(subjects, span, store);
  return new Map(
    [...found].map(([subject, days]) => [
      subject,
      days.map(({ tally, number, day }): DayUsage => ({ ...usageOf(tally), number, day })),
    ]),
  );
}
