import { memoize } from '../match/remember.ts';
import {
  type CalendarDay,
  calendarDay,
  DAY_MS,
  dayIn,
  dayLabel,
  dayNumber,
  dayOfIso,
  dayStartMs,
  HOUR_MS,
  isoDay,
  MINUTE_MS,
  monthName,
  two,
  weekday,
} from './calendar.ts';

export const PERIOD_KINDS = ['minute', 'hour', 'day', 'week', 'month', 'quarter', 'year', 'once'] as const;

export type PeriodKind = (typeof PERIOD_KINDS)[number];

export interface Period {
  /**
   * `2026-11-21T14:05Z`, `2026-11-21T14Z`, `2026-11-21`, `2026-W47`, `2026-11`, `2026-Q4`, `2026`, `once`; with a fiscal
   * start `2026-11@04-06`, `2026-Q1@04-06`, `2026@04-06`, named by the year, month or fiscal year it begins in.
   */
  readonly key: string;
  /** For people: `November 2026`, `week 47 of 2026`, `21 November 2026`, `Q4 2026`, `fiscal year 2026/27`. */
  readonly label: string;
  readonly startMs: number;
  readonly endMs: number;
}

/** The period met last, per kind, zone and fiscal start: nearly every lookup falls into it again. */
const lastPeriods = new Map<string, Period>();
const LAST_PERIODS_MAX = 1_000;

/** Weeks begin on Monday; minutes and hours are UTC in every zone. The cache changes no result. */
export function periodAt(
  kind: PeriodKind,
  zone: string,
  nowMs: number,
  fiscalStart: FiscalStart = CALENDAR_YEAR,
): Period {
  const where = `${kind} ${zone} ${fiscalStart}`;
  const last = lastPeriods.get(where);
  if (last !== undefined && last.startMs <= nowMs && nowMs < last.endMs) return last;
  const period = computePeriod(kind, zone, nowMs, fiscalStart);
  if (lastPeriods.size >= LAST_PERIODS_MAX) lastPeriods.clear();
  lastPeriods.set(where, period);
  return period;
}

function computePeriod(kind: PeriodKind, zone: string, nowMs: number, fiscalStart: FiscalStart): Period {
  if (kind === 'once') return ONCE;
  if (kind === 'minute') return clockPeriod(nowMs, MINUTE_MS, 16, (clock) => `${clock} UTC`);
  if (kind === 'hour') return clockPeriod(nowMs, HOUR_MS, 13, (clock) => `the hour from ${clock}:00 UTC`);
  const today = dayIn(zone, nowMs);
  const { first, next, key, label } =
    kind === 'day' || kind === 'week' ? findDays(kind, today) : monthsOf(kind, today, fiscalStart);
  return { key, label, startMs: dayStartMs(zone, first), endMs: dayStartMs(zone, next) };
}

const ONCE: Period = {
  key: 'once',
  label: 'all time',
  startMs: Number.NEGATIVE_INFINITY,
  endMs: Number.POSITIVE_INFINITY,
};

function clockPeriod(
  nowMs: number,
  lengthMs: number,
  keyCharacters: number,
  clockLabel: (clock: string) => string,
): Period {
  const startMs = Math.floor(nowMs / lengthMs) * lengthMs;
  const iso = new Date(startMs).toISOString().slice(0, keyCharacters);
  const [day = '', clock = ''] = iso.split('T');
  return {
    key: `${iso}Z`,
    label: `${clockLabel(clock)} on ${dayLabel(dayOfIso(day))}`,
    startMs,
    endMs: startMs + lengthMs,
  };
}

function findDays(kind: 'day' | 'week', today: CalendarDay): Days {
  const number = dayNumber(today);
  if (kind === 'day')
    return { first: today, next: calendarDay(number + 1), key: isoDay(today), label: dayLabel(today) };
  const monday = number - weekday(number);
  // ISO 8601: week 1 is the one with the year's first Thursday.
  const { year } = calendarDay(monday + 3);
  const week = Math.floor((monday + 3 - dayNumber({ year, month: 1, day: 1 })) / 7) + 1;
  return {
    first: calendarDay(monday),
    next: calendarDay(monday + 7),
    key: `${year}-W${two(week)}`,
    label: `week ${week} of ${year}`,
  };
}

const MONTHS = /^(\d{4})(?:-(?:Q([1-4])|(\d{2})))?(?:@(\d{2})-(\d{2}))?$/;

/** The period of a key on UTC's calendar; undefined for `once`, `now` and other keys. */
function periodOfKey(key: string): { readonly kind: PeriodKind; readonly endMs: number } | undefined {
  const of = (kind: PeriodKind, atMs: number, start?: FiscalStart) =>
    Number.isNaN(atMs) ? undefined : { kind, endMs: periodAt(kind, 'UTC', atMs, start).endMs };
  if (/T\d{2}:\d{2}Z$/.test(key)) return of('minute', Date.parse(key));
  if (/T\d{2}Z$/.test(key)) return of('hour', Date.parse(key.replace('Z', ':00Z')));
  if (/^\d{4}-\d{2}-\d{2}$/.test(key)) return of('day', Date.parse(key));
  const [, weekYear, week] = /^(\d{4})-W(\d{2})$/.exec(key) ?? [];
  if (weekYear !== undefined) return of('week', Date.UTC(Number(weekYear), 0, 7 * Number(week) - 3));
  const [, year, quarter, month, startMonth = '01', startDay = '01'] = MONTHS.exec(key) ?? [];
  if (year === undefined) return undefined;
  const start = `${startMonth}-${startDay}`;
  const kind = quarter !== undefined ? 'quarter' : month !== undefined ? 'month' : 'year';
  const first = month === undefined ? Number(startMonth) + 3 * (Number(quarter ?? 1) - 1) : Number(month);
  // Date.UTC carries months over year ends.
  return of(kind, Date.UTC(Number(year), first - 1, Number(startDay)), start);
}

const LONGEST_DAYS = { minute: 2, hour: 2, day: 2, week: 8, month: 32, quarter: 93, year: 367 };

/** The most days that a period lasts, one for clock changes included: 0 for `now`, Infinity for `once`. */
export const longestDays = memoize((key: string): number => {
  const kind = periodOfKey(key)?.kind;
  if (key === 'now') return 0;
  return kind === undefined || kind === 'once' ? Number.POSITIVE_INFINITY : LONGEST_DAYS[kind];
});

/** Returns an instant at which the period is over in every zone, at most a day too late; Infinity for `once` and `now`. */
export const overEverywhereMs = memoize((key: string): number => {
  const period = periodOfKey(key);
  if (period === undefined) return Number.POSITIVE_INFINITY;
  // Minutes and hours are UTC's. Days end up to twelve hours after UTC's, and clocks of zones move.
  return period.endMs + (period.kind === 'minute' || period.kind === 'hour' ? 0 : DAY_MS);
});

/** Unix ms, half-open: at `untilMs` it no longer counts. */
export interface Validity {
  readonly fromMs?: number;
  readonly untilMs?: number;
}

export const isValidAt = ({ fromMs, untilMs }: Validity, nowMs: number): boolean =>
  (fromMs === undefined || fromMs <= nowMs) && (untilMs === undefined || nowMs < untilMs);

export const validAt = <Each extends Validity>(all: readonly Each[], nowMs: number): readonly Each[] =>
  // Most limits have no dates, and then the list is the one there is.
  all.every((each) => isValidAt(each, nowMs)) ? all : all.filter((each) => isValidAt(each, nowMs));

/** Kinds that begin at a day of the year, so that a fiscal start moves them. */
const MONTHS_IN = { month: 1, quarter: 3, year: 12 };

export type FiscalKind = keyof typeof MONTHS_IN;

export const FISCAL_KINDS: readonly string[] = Object.keys(MONTHS_IN);

export const isYearly = (per: PeriodKind): per is FiscalKind => per in MONTHS_IN;

export type FiscalStart = string;

export const CALENDAR_YEAR: FiscalStart = '01-01';

/** Every month has a 28th: fiscal months that began later would not all begin. */
export const isFiscalStart = (text: string): boolean =>
  /^(?:0[1-9]|1[0-2])-(?:0[1-9]|1\d|2[0-8])$/.test(text);

/** Months that begin on the 1st are calendar months. */
export const isFiscal = (kind: FiscalKind, start: FiscalStart): boolean =>
  start !== CALENDAR_YEAR && !(kind === 'month' && start.endsWith('-01'));

export interface Days {
  readonly first: CalendarDay;
  readonly next: CalendarDay;
  readonly key: string;
  readonly label: string;
}

/** Months are counted from year 0; a fiscal month begins on the fiscal start's day. */
export function monthsOf(kind: FiscalKind, today: CalendarDay, fiscalStart: FiscalStart): Days {
  const [startMonth = 1, startDay = 1] = fiscalStart.split('-').map(Number);
  const begun = today.year * 12 + today.month - 1 - (today.day < startDay ? 1 : 0);
  const ofYear = (((begun - (startMonth - 1)) % 12) + 12) % 12;
  const length = MONTHS_IN[kind];
  const firstMonth = begun - (ofYear % length);
  const firstDayIn = (month: number): CalendarDay => ({
    ...{ year: Math.floor(month / 12), month: (month % 12) + 1, day: startDay },
  });
  const [first, next] = [firstDayIn(firstMonth), firstDayIn(firstMonth + length)];
  const year = Math.floor((begun - ofYear) / 12);
  const fiscal = isFiscal(kind, fiscalStart);
  const at = fiscal ? `@${fiscalStart}` : '';
  const years = fiscal ? `${year}/${two((year + 1) % 100)}` : String(year);
  if (kind === 'month') {
    const label = fiscal ? `the month from ${dayLabel(first)}` : `${monthName(first.month)} ${first.year}`;
    return { first, next, key: `${first.year}-${two(first.month)}${at}`, label };
  }
  if (kind === 'year')
    return { first, next, key: `${year}${at}`, label: fiscal ? `fiscal year ${years}` : years };
  const quarter = Math.floor(ofYear / 3) + 1;
  return { first, next, key: `${year}-Q${quarter}${at}`, label: `Q${quarter} ${years}` };
}
