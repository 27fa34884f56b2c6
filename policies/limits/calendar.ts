/** A day of the proleptic Gregorian calendar, without a zone. */
export interface CalendarDay {
  readonly year: number;
  /** 1–12. */
  readonly month: number;
  readonly day: number;
}

export const MINUTE_MS = 60_000;
export const HOUR_MS = 60 * MINUTE_MS;
export const DAY_MS = 24 * HOUR_MS;

/** Whole days since 1970-01-01. `Date.UTC` is arithmetic, not a clock, and carries days over month ends. */
export const dayNumber = ({ year, month, day }: CalendarDay): number =>
  Date.UTC(year, month - 1, day) / DAY_MS;

export function calendarDay(number: number): CalendarDay {
  const date = new Date(number * DAY_MS);
  return { year: date.getUTCFullYear(), month: date.getUTCMonth() + 1, day: date.getUTCDate() };
}

/** 0 is Monday. 1970-01-01 was a Thursday. */
export const weekday = (number: number): number => (((number + 3) % 7) + 7) % 7;

/** ISO 8601: weeks begin on Monday, and week 1 is the one with the year's first Thursday. */
export function isoWeek(number: number): { readonly year: number; readonly week: number } {
  const thursday = number - weekday(number) + 3;
  const { year } = calendarDay(thursday);
  const week = Math.floor((thursday - dayNumber({ year, month: 1, day: 1 })) / 7) + 1;
  return { year, week };
}

const MONTHS = [
  'January',
  'February',
  'March',
  'April',
  'May',
  'June',
  'July',
  'August',
  'September',
  'October',
  'November',
  'December',
] as const;

export const monthName = (month: number): string => MONTHS[month - 1] ?? String(month);

/** `21 November 2026`. */
export const dayLabel = ({ year, month, day }: CalendarDay): string => `${day} ${monthName(month)} ${year}`;

/** `7` → `07`. */
export const two = (number: number): string => String(number).padStart(2, '0');

/** `2026-11-21`. */
export const isoDay = ({ year, month, day }: CalendarDay): string => `${year}-${two(month)}-${two(day)}`;

/** The day that {@link isoDay} wrote. */
export function dayOfIso(text: string): CalendarDay {
  const [year = 0, month = 0, day = 0] = text.split('-').map(Number);
  return { year, month, day };
}
