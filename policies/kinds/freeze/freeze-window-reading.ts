import { readInstant } from '../../document/instant.ts';
import type { Reading } from '../../document/reading.ts';
import type { FreezeSpan, FreezeWindows } from './freeze-window.ts';
import { type WeeklyWindow, weeklySpans } from './freeze-window-weekly.ts';

/** More than a year of days, each written by itself. */
const WINDOWS_MAX = 500;
const DAY_MINUTES = 1_440;
const DAYS = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'] as const;
const TIME = /^(?:([01]\d|2[0-3]):([0-5]\d)|24:00)$/;
const INSTANT_EXPECTED = 'a day such as 2026-12-31 or an instant such as 2026-12-31T18:00Z';

/** Reads `windows`; undefined if there are none, which means always. */
export function readFreezeWindows(reading: Reading, zone: string): FreezeWindows | undefined {
  if (!reading.isThere) return undefined;
  const what = '{from, until} or {days, from, until}';
  const windows = reading.list(what, WINDOWS_MAX);
  // Somebody who took out the last window did not mean to freeze everything.
  if (Array.isArray(reading.value) && reading.value.length === 0)
    reading.refuse(`is empty; leave it out to freeze until the rule is gone, or list ${what}`);
  const isWeekly = (each: Reading): boolean => each.at('days').isThere;
  const weekly = windows.filter(isWeekly).flatMap((each) => readWeekly(each) ?? []);
  return {
    absolute: windows.filter((each) => !isWeekly(each)).flatMap((each) => readAbsolute(each, zone) ?? []),
    weeklyAt: weeklySpans(weekly, zone),
  };
}

/** A window without `until` lasts until somebody lifts it. */
function readAbsolute(reading: Reading, zone: string): FreezeSpan | undefined {
  if (!reading.object(['days', 'from', 'until'])) return undefined;
  const startMs = readEdge(reading.at('from'), 'start', zone);
  const until = reading.at('until');
  const endMs = until.isThere ? readEdge(until, 'end', zone) : Number.POSITIVE_INFINITY;
  if (startMs === undefined || endMs === undefined) return undefined;
  return startMs < endMs ? { startMs, endMs } : until.expected('an end after from');
}

const readEdge = (reading: Reading, edge: 'start' | 'end', zone: string): number | undefined =>
  (typeof reading.value === 'string' ? readInstant(reading.value, edge, zone) : undefined) ??
  reading.expected(INSTANT_EXPECTED);

/** Days without times are meant whole. An end that is not after the start is one on the next day. */
function readWeekly(reading: Reading): WeeklyWindow | undefined {
  reading.object(['days', 'from', 'until']);
  const days = reading.at('days');
  const numbers = days.list(`days: ${DAYS.join(', ')}`, DAYS.length).flatMap((each) => {
    const day = each.oneOf('a day', DAYS);
    return day === undefined ? [] : [DAYS.indexOf(day)];
  });
  if (Array.isArray(days.value) && days.value.length === 0)
    days.refuse(`is empty; expected days: ${DAYS.join(', ')}`);
  const fromMinute = readTime(reading.at('from'), 0);
  const untilMinute = readTime(reading.at('until'), DAY_MINUTES);
  if (fromMinute === undefined || untilMinute === undefined) return undefined;
  if (fromMinute === DAY_MINUTES)
    return reading.at('from').expected('a time before 24:00; write 00:00 and the next day');
  const isNextDay = untilMinute <= fromMinute;
  return { days: new Set(numbers), fromMinute, untilMinute: untilMinute + (isNextDay ? DAY_MINUTES : 0) };
}

/** Minutes of the day. */
function readTime(reading: Reading, otherwise: number): number | undefined {
  if (!reading.isThere) return otherwise;
  const time = typeof reading.value === 'string' ? TIME.exec(reading.value) : null;
  if (time === null) return reading.expected('a time of the day in quotes, such as "18:00"');
  const [, hour = '24', minute = '0'] = time;
  return Number(hour) * 60 + Number(minute);
}
