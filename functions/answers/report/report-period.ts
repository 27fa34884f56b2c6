import { readWrittenDay } from '../../../policies/document/written.ts';
import { calendarDay, dayNumber } from '../../../policies/limits/calendar.ts';
import { type DaySpan, dayText } from '../reading/usage-days.ts';
import type { SpendQuery, SpendUnreadable } from './model.ts';

/** Up to today; `end` is later where the period is still under way. */
export interface ReportPeriod extends DaySpan {
  readonly end: number;
}

/** Three years and a month: sheets of months are kept for ever, but a report has to end. */
const DAYS_MAX = 1_130;
const DAY = /^(20\d{2})-(\d{2})-(\d{2})$/;
const EXPECTED_DAY = 'expected a day like 2026-11-21 or 21.11.2026';
const EXPECTED =
  'expected month, last-month, quarter, last-quarter, year, last-year, or one like 2026-11, 2026-q4 or 2026';

export function reportPeriod(
  { period, from, to }: SpendQuery,
  today: number,
): ReportPeriod | SpendUnreadable {
  if (from === undefined && to === undefined) return named(period ?? 'month', today);
  const first = dayOf(from ?? to ?? '');
  const last = to === undefined ? today : dayOf(to);
  if (typeof first === 'string') return unreadable('from', first);
  if (typeof last === 'string') return unreadable('to', last);
  if (first > today) return unreadable('from', 'has not begun; expected a day up to today');
  if (first > last) return unreadable('to', 'is before the first day');
  if (last - first >= DAYS_MAX) return unreadable('to', `expected at most ${DAYS_MAX} days`);
  return upTo(today, first, last);
}

export function unreadable(asked: SpendUnreadable['asked'], sentence: string): SpendUnreadable {
  return { outcome: 'unreadable', asked, sentence };
}

function upTo(today: number, from: number, end: number): ReportPeriod {
  return { from, end, to: Math.min(end, today) };
}

/** Returns a text if it is not a day: the reason. */
function dayOf(text: string): number | string {
  const read = readWrittenDay(text);
  if (!read.ok) return read.message;
  const [, year, month, day] = DAY.exec(read.text) ?? [];
  if (year === undefined) return EXPECTED_DAY;
  const number = dayNumber({ year: Number(year), month: Number(month), day: Number(day) });
  return dayText(number) === read.text ? number : EXPECTED_DAY;
}

/** First month (counted from year 0) and number of months. */
function named(period: string, today: number): ReportPeriod | SpendUnreadable {
  const month = monthNumber(today);
  const words: Readonly<Record<string, readonly [number, number]>> = {
    month: [month, 1],
    'last-month': [month - 1, 1],
    quarter: [month - (month % 3), 3],
    'last-quarter': [month - (month % 3) - 3, 3],
    year: [month - (month % 12), 12],
    'last-year': [month - (month % 12) - 12, 12],
  };
  const [first, months] = words[period] ?? written(period) ?? [];
  if (first === undefined || months === undefined) return unreadable('period', EXPECTED);
  if (firstDay(first) > today) return unreadable('period', 'has not begun; expected one up to now');
  return upTo(today, firstDay(first), firstDay(first + months) - 1);
}

function written(period: string): readonly [number, number] | undefined {
  const [, year, month, quarter] = /^(20\d{2})(?:-(0[1-9]|1[0-2])|-q([1-4]))?$/i.exec(period) ?? [];
  if (year === undefined) return undefined;
  const start = Number(year) * 12;
  if (month !== undefined) return [start + Number(month) - 1, 1];
  return quarter === undefined ? [start, 12] : [start + (Number(quarter) - 1) * 3, 3];
}

const firstDay = (month: number): number =>
  dayNumber({ year: Math.floor(month / 12), month: (month % 12) + 1, day: 1 });

export const monthNumber = (day: number): number => {
  const { year, month } = calendarDay(day);
  return year * 12 + month - 1;
};

/** As many months or days right before it; of a period under way as many days as are over. */
export function periodBefore({ from, to, end }: ReportPeriod): ReportPeriod {
  const first = monthNumber(from);
  const isMonths = firstDay(first) === from && firstDay(monthNumber(end) + 1) - 1 === end;
  const months = monthNumber(end) - first + 1;
  const start = isMonths ? firstDay(first - months) : from - (end - from + 1);
  const last = to < end ? Math.min(start + (to - from), from - 1) : from - 1;
  return { from: start, to: last, end: last };
}
