import { memoize, memoizeIn } from '../match/remember.ts';

export interface CalendarDay {
  readonly year: number;
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

const MONTHS = 'January February March April May June July August September October November December'.split(
  ' ',
);

export const monthName = (month: number): string => MONTHS[month - 1] ?? String(month);

export const dayLabel = ({ year, month, day }: CalendarDay): string => `${day} ${monthName(month)} ${year}`;

export const two = (number: number): string => String(number).padStart(2, '0');

export const isoDay = ({ year, month, day }: CalendarDay): string => `${year}-${two(month)}-${two(day)}`;

export function dayOfIso(text: string): CalendarDay {
  const [year = 0, month = 0, day = 0] = text.split('-').map(Number);
  return { year, month, day };
}

/** Zones are at most 14 hours ahead of and 12 behind UTC; one day more covers zones that moved across the date line. */
const SEARCH_MS = 38 * HOUR_MS;

/** The build computes them once, because the runtime's first calendar lookup takes 10 ms of a cold start. */
export interface ZoneTable {
  readonly fromMs: number;
  readonly untilMs: number;
  /** From when on, and by how many minutes; the first at `fromMs`. */
  readonly ahead: readonly (readonly [fromMs: number, minutes: number])[];
}

const tables = new Map<string, ZoneTable>();
const TABLE_FROM_MS = Date.UTC(2020, 0, 1);
const TABLE_UNTIL_MS = Date.UTC(2040, 0, 1);

export function zoneTable(zone: string): ZoneTable {
  const ahead: [number, number][] = [[TABLE_FROM_MS, lookedUpAhead(zone, TABLE_FROM_MS)]];
  for (let atMs = TABLE_FROM_MS + DAY_MS; atMs < TABLE_UNTIL_MS; atMs += DAY_MS) {
    const minutes = lookedUpAhead(zone, atMs);
    if (minutes === ahead.at(-1)?.[1]) continue;
    const isSoAhead = (minute: number): boolean => lookedUpAhead(zone, minute * MINUTE_MS) === minutes;
    const minute = firstAt((atMs - DAY_MS) / MINUTE_MS, atMs / MINUTE_MS, isSoAhead);
    ahead.push([minute * MINUTE_MS, minutes]);
  }
  return { fromMs: TABLE_FROM_MS, untilMs: TABLE_UNTIL_MS, ahead };
}

/** From now on these zones are read from their tables; in other years, and other zones, from the runtime. */
export function knowZones(known: Readonly<Record<string, ZoneTable>>): void {
  for (const [zone, table] of Object.entries(known)) tables.set(zone, table);
}

function lookedUpAhead(zone: string, atMs: number): number {
  const { year, month, day, hour, minute } = lookedUpClock(zone, atMs);
  return (Date.UTC(year, month - 1, day, hour, minute) - atMs) / MINUTE_MS;
}

/** Making a formatter takes thousands of times longer than using it. */
const formatterOf = memoize(
  (timeZone: string) =>
    new Intl.DateTimeFormat('en-u-ca-gregory-nu-latn', {
      ...{ timeZone, year: 'numeric', month: 'numeric', day: 'numeric' },
      ...{ hour: '2-digit', minute: '2-digit', hourCycle: 'h23' },
    }),
);

/** Returns true for a zone of the IANA data base. An offset is not one: it has no daylight saving time. */
export function isZone(zone: string): boolean {
  if (!/^[A-Za-z]/.test(zone)) return false;
  if (tables.has(zone)) return true;
  try {
    formatterOf(zone);
    return true;
  } catch {
    return false;
  }
}

interface ZonedClock extends CalendarDay {
  readonly hour: number;
  readonly minute: number;
}

export function clockIn(zone: string, atMs: number): ZonedClock {
  const table = tables.get(zone);
  if (table === undefined || !(table.fromMs <= atMs && atMs < table.untilMs))
    return lookedUpClock(zone, atMs);
  const minutes = table.ahead.findLast(([fromMs]) => fromMs <= atMs)?.[1] ?? 0;
  const shown = new Date(atMs + minutes * MINUTE_MS);
  const day = calendarDay(Math.floor(shown.getTime() / DAY_MS));
  return { ...day, hour: shown.getUTCHours(), minute: shown.getUTCMinutes() };
}

function lookedUpClock(zone: string, atMs: number): ZonedClock {
  const clock = { year: 0, month: 0, day: 0, hour: 0, minute: 0 };
  for (const { type, value } of formatterOf(zone).formatToParts(atMs)) {
    if (type in clock) clock[type as keyof typeof clock] = Number(value);
  }
  return clock;
}

export const dayIn = (zone: string, atMs: number): CalendarDay => clockIn(zone, atMs);

/** Hours since Monday 00:00 by the clocks of a zone: 0–167. One that clocks show twice is one, and one that they skip never comes. */
export function hourOfWeek(zone: string, atMs: number): number {
  const clock = clockIn(zone, atMs);
  return weekday(dayNumber(clock)) * 24 + clock.hour;
}

const STARTS_MAX = 10_000;
const starts = new Map<string, number>();

/** The first instant of a day in a zone, Unix ms. Remembered, because it takes 28 looks at the zone's calendar. */
export function dayStartMs(zone: string, day: CalendarDay): number {
  const wanted = dayNumber(day);
  // Clocks may skip midnight, so it is the earliest instant whose day is this one or later.
  const isReached = (atMs: number): boolean => dayNumber(dayIn(zone, atMs)) >= wanted;
  return memoizeIn(starts, `${wanted} ${zone}`, STARTS_MAX, () =>
    firstAt(wanted * DAY_MS - SEARCH_MS, wanted * DAY_MS + SEARCH_MS, isReached),
  );
}

/** Returns the first whole number after `before`, at most `after`, for which `holds` is true. From there on it must stay true. */
export function firstAt(before: number, after: number, holds: (at: number) => boolean): number {
  let [no, yes] = [before, after];
  while (yes - no > 1) {
    const middle = no + Math.floor((yes - no) / 2);
    if (holds(middle)) yes = middle;
    else no = middle;
  }
  return yes;
}
