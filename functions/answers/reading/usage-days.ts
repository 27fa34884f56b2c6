import { calendarDay, dayIn, dayNumber, isoDay } from '../../../policies/limits/calendar.ts';
import { inParts } from '../../core/store/parts.ts';
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

const PART_KEYS = 2_000;

export const today = (zone: string, nowMs: number): number => dayNumber(dayIn(zone, nowMs));

export const dayText = (number: number): string => isoDay(calendarDay(number));

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
  const found = new Map<string, DayTally[]>(subjects.map((subject) => [subject, []]));
  for (const part of inParts(keys, PART_KEYS)) {
    const tallies = await store.readUsage(part);
    for (const [index, { subject, number, day }] of part.entries())
      found.get(subject)?.push({ number, day, tally: tallies[index] ?? new Map() });
  }
  return found;
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
