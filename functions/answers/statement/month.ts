/** Months of statements: whole days, without gaps or overlaps. */
import {
  type CalendarDay,
  calendarDay,
  DAY_MS,
  dayIn,
  dayNumber,
  dayStartMs,
  two,
} from '../../../policies/limits/calendar.ts';
import { type FiscalStart, monthsOf } from '../../../policies/limits/period.ts';
import type { ClosedStatement } from '../../core/statements/index.ts';
import type { DaySpan } from '../reading/usage-days.ts';

/** Its days are `dayNumber`s in the accounting zone, both included. */
export interface StatementMonth extends DaySpan {
  /** `2026-10`; `2026-10@06` begins on the 6th. */
  readonly key: string;
}

/** The ends of jobs and their webhooks need hours; five days leave room for an outage. */
const SETTLING_MS = 5 * DAY_MS;
/** Within every month of that name: fiscal months begin on the 28th at the latest. */
const DAY_INSIDE = 28;

/** The first and last instant, Unix ms; the last is not part of it. */
export const monthSpanMs = ({ from, to }: DaySpan, zone: string) => ({
  startMs: dayStartMs(zone, calendarDay(from)),
  endMs: dayStartMs(zone, calendarDay(to + 1)),
});

/** @param day - `dayNumber` */
export function monthOfDay(day: number, fiscalStart: FiscalStart): StatementMonth {
  const { first, next } = monthsOf('month', calendarDay(day), fiscalStart);
  return { key: keyOf(first), from: dayNumber(first), to: dayNumber(next) - 1 };
}

const keyOf = ({ year, month, day }: CalendarDay): string =>
  `${year}-${two(month)}${day === 1 ? '' : `@${two(day)}`}`;

/** Days are named, so a statement of another zone still lists its days. */
export const closedDays = ({
  startMs,
  endMs,
  zone,
  usageZone = zone,
}: Pick<ClosedStatement, 'startMs' | 'endMs' | 'zone' | 'usageZone'>): DaySpan => ({
  from: dayNumber(dayIn(usageZone, startMs)),
  to: dayNumber(dayIn(usageZone, endMs - 1)),
});

/** The month that begins on the day after the last statement ended. A changed fiscal year makes it shorter, never longer. */
export const monthAfter = (lastDay: number, fiscalStart: FiscalStart): StatementMonth => ({
  ...monthOfDay(lastDay + 1, fiscalStart),
  from: lastDay + 1,
});

/** Returns true if the month is over for so long that the ends of its jobs have come. */
export const isClosable = (month: StatementMonth, zone: string, nowMs: number): boolean =>
  monthSpanMs(month, zone).endMs + SETTLING_MS <= nowMs;

/**
 * Returns the days of the month of that name: as it was closed, else those that no statement has.
 * Returns undefined if it names no month. One that has not begun has its first day in the future.
 */
export function monthNamed(
  text: string,
  fiscalStart: FiscalStart,
  closed: readonly ClosedStatement[],
): StatementMonth | undefined {
  const known = closed.find(({ month }) => month === text);
  if (known !== undefined) return { key: text, ...closedDays(known) };
  const [, year, month] = /^(20\d{2})-(0[1-9]|1[0-2])(?:@\d\d)?$/.exec(text) ?? [];
  if (year === undefined) return undefined;
  const named = monthOfDay(
    dayNumber({ year: Number(year), month: Number(month), day: DAY_INSIDE }),
    fiscalStart,
  );
  const last = closed.at(-1);
  const from = Math.max(named.from, last === undefined ? named.from : closedDays(last).to + 1);
  // A month before the first statement, or one between, is asked for as the calendar has it.
  return from > named.to ? named : { ...named, from };
}
