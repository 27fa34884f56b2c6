import { remembered } from '../match/remember.ts';
import { type CalendarDay, DAY_MS, dayNumber } from './calendar.ts';

/** Zones are at most 14 hours ahead of and 12 behind UTC; one day more covers zones that moved across the date line. */
const SEARCH_MS = 38 * 3_600_000;

/** One per zone in use. Making a formatter takes thousands of times longer than using it. */
const formatters = new Map<string, Intl.DateTimeFormat>();

/** Whether this is a zone of the IANA data base (`Europe/Berlin`, `UTC`), not an offset, which knows no summer time. */
export function isZone(zone: string): boolean {
  if (!/^[A-Za-z]/.test(zone)) return false;
  try {
    formatterOf(zone);
    return true;
  } catch {
    return false;
  }
}

/** What calendar and clock show in a zone; the month counts from 1. */
interface ZonedClock extends CalendarDay {
  readonly hour: number;
  readonly minute: number;
}

export function clockIn(zone: string, atMs: number): ZonedClock {
  const clock = { year: 0, month: 0, day: 0, hour: 0, minute: 0 };
  for (const { type, value } of formatterOf(zone).formatToParts(atMs)) {
    if (type in clock) clock[type as keyof typeof clock] = Number(value);
  }
  return clock;
}

/** The day it is in a zone. */
export const dayIn = (zone: string, atMs: number): CalendarDay => clockIn(zone, atMs);

/** Some 100 bytes each: a year of days in the zones of a deployment. */
const STARTS_MAX = 10_000;
const starts = new Map<string, number>();

/**
 * The first instant of a day in a zone, Unix ms. Pure: what it remembers, it would compute again, and that takes 28 looks
 * at the zone's calendar. Forecasts ask for the same thirty days for every row.
 */
export function dayStartMs(zone: string, day: CalendarDay): number {
  const wanted = dayNumber(day);
  return remembered(starts, `${wanted} ${zone}`, STARTS_MAX, () => searchedStartMs(zone, wanted));
}

/**
 * Usually 00:00 there, but not where the clocks skip midnight: so it is searched for, as the earliest instant at which
 * the zone's day is this one or later.
 */
function searchedStartMs(zone: string, wanted: number): number {
  let before = wanted * DAY_MS - SEARCH_MS;
  let after = wanted * DAY_MS + SEARCH_MS;
  while (after - before > 1) {
    const middle = before + Math.floor((after - before) / 2);
    if (dayNumber(dayIn(zone, middle)) >= wanted) after = middle;
    else before = middle;
  }
  return after;
}

function formatterOf(zone: string): Intl.DateTimeFormat {
  const known = formatters.get(zone);
  if (known !== undefined) return known;
  const formatter = new Intl.DateTimeFormat('en-u-ca-gregory-nu-latn', {
    timeZone: zone,
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: '2-digit',
    minute: '2-digit',
    hourCycle: 'h23',
  });
  formatters.set(zone, formatter);
  return formatter;
}
