import { edge } from '../document/parse-entry.ts';
import type { Reading } from '../document/reading.ts';
import { clockIn, DAY_MS, dayNumber, firstAt, HOUR_MS, MINUTE_MS, weekday } from '../limits/calendar.ts';
import { memoizeIn } from '../match/remember.ts';

/** Half-open, Unix ms. `Infinity`: the freeze lasts until someone lifts it. */
interface FreezeSpan {
  readonly startMs: number;
  readonly endMs: number;
}

export interface FreezeWindows {
  readonly absolute: readonly FreezeSpan[];
  readonly weeklyAt: (atMs: number) => readonly FreezeSpan[];
}

/** Weekly windows that leave no gap for so long have none: a change of the clocks can close one for a week, not for two. */
const GAPLESS_MS = 28 * DAY_MS;

/** Returns the end of the freeze in force. Undefined: no freeze. Windows that touch or overlap are one. */
export function frozenUntilMs({ absolute, weeklyAt }: FreezeWindows, atMs: number): number | undefined {
  let untilMs = atMs;
  let weeklySinceMs = atMs;
  // Ends, because every pass goes beyond an absolute window for good, or a weekly one further through these weeks.
  while (untilMs - weeklySinceMs <= GAPLESS_MS) {
    const absoluteEndMs = latestEnd(absolute, untilMs);
    const endMs = absoluteEndMs ?? latestEnd(weeklyAt(untilMs), untilMs);
    if (endMs === undefined) return untilMs === atMs ? undefined : untilMs;
    untilMs = endMs;
    if (untilMs === Number.POSITIVE_INFINITY) return untilMs;
    if (absoluteEndMs !== undefined) weeklySinceMs = untilMs;
  }
  return Number.POSITIVE_INFINITY;
}

function latestEnd(spans: readonly FreezeSpan[], atMs: number): number | undefined {
  let latest: number | undefined;
  for (const { startMs, endMs } of spans) {
    if (startMs <= atMs && atMs < endMs && (latest === undefined || endMs > latest)) latest = endMs;
  }
  return latest;
}

const WINDOWS_MAX = 500;
const DAY_MINUTES = 1_440;
const DAYS = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'] as const;
const TIME = /^(?:([01]\d|2[0-3]):([0-5]\d)|24:00)$/;

const WHAT = '{from, until} or {days, from, until}';

export function readFreezeWindows(reading: Reading, zone: string): FreezeWindows {
  // Removing the last window is not meant to freeze everything.
  reading.refuseEmpty(`is empty; leave it out to freeze until the rule is gone, or list ${WHAT}`);
  const weekly: WeeklyWindow[] = [];
  const absolute = reading.each(WHAT, WINDOWS_MAX, (each) => {
    if (!each.object(['days', 'from', 'until'])) return undefined;
    if (!each.at('days').isThere) return readAbsolute(each, zone);
    const window = readWeekly(each);
    if (window !== undefined) weekly.push(window);
    return undefined;
  });
  return { absolute, weeklyAt: weeklySpans(weekly, zone) };
}

function readAbsolute(reading: Reading, zone: string): FreezeSpan | undefined {
  const startMs = edge('start', zone)(reading.at('from'));
  const until = reading.at('until');
  const endMs = until.isThere ? edge('end', zone)(until) : Number.POSITIVE_INFINITY;
  if (startMs === undefined || endMs === undefined) return undefined;
  return startMs < endMs ? { startMs, endMs } : until.expected('an end after from');
}

/** Days without times are meant whole. An end that is not after the start is one on the next day. */
function readWeekly(reading: Reading): WeeklyWindow | undefined {
  const listed = reading.at('days');
  listed.refuseEmpty(`is empty; expected days: ${DAYS.join(', ')}`);
  const days = listed.each(`days: ${DAYS.join(', ')}`, DAYS.length, (each) => each.oneOf('a day', DAYS));
  const [from, until] = [reading.at('from'), reading.at('until')];
  const fromMinute = from.isThere ? readTime(from) : 0;
  const untilMinute = until.isThere ? readTime(until) : DAY_MINUTES;
  if (fromMinute === undefined || untilMinute === undefined) return undefined;
  if (fromMinute === DAY_MINUTES) return from.expected('a time before 24:00; write 00:00 and the next day');
  return {
    days: new Set(days.map((day) => DAYS.indexOf(day))),
    fromMinute,
    untilMinute: untilMinute + (untilMinute <= fromMinute ? DAY_MINUTES : 0),
  };
}

function readTime(reading: Reading): number | undefined {
  const time = TIME.exec(reading.asText);
  if (time === null) return reading.expected('a time of the day in quotes, such as "18:00"');
  const [, hour = '24', minute = '0'] = time;
  return Number(hour) * 60 + Number(minute);
}

interface WeeklyWindow {
  readonly days: ReadonlySet<number>;
  readonly fromMinute: number;
  readonly untilMinute: number;
}

const DAYS_REMEMBERED_MAX = 200;

/** The windows that may be open at an instant, on the calendar and the clocks of a zone; the same days come again and again. */
function weeklySpans(
  windows: readonly WeeklyWindow[],
  zone: string,
): (atMs: number) => readonly FreezeSpan[] {
  const known = new Map<number, readonly FreezeSpan[]>();
  const findSpans = (day: number): readonly FreezeSpan[] =>
    memoizeIn(known, day, DAYS_REMEMBERED_MAX, () =>
      windows
        .filter(({ days }) => days.has(weekday(day)))
        .map(({ fromMinute, untilMinute }) => ({
          startMs: clockInstantMs(zone, day, fromMinute),
          endMs: clockInstantMs(zone, day, untilMinute),
        })),
    );
  return (atMs) => {
    if (windows.length === 0) return [];
    // The zone's day is at most one off, and a window that is still open may have begun on the day before it.
    const today = Math.floor(atMs / DAY_MS);
    return [today - 2, today - 1, today, today + 1].flatMap(findSpans);
  };
}

/** Zones are at most 14 hours ahead of UTC and 12 behind: an hour more is certainly before or after the instant. */
const BEFORE_MS = 15 * HOUR_MS;
const AFTER_MS = 13 * HOUR_MS;

/**
 * The instant at which the clocks of a zone show a day and a time for the first time, Unix ms. A time they skip counts
 * as the moment at which they skip it.
 *
 * @param day - as `dayNumber` counts.
 * @param minute - of the day; beyond 1440 it is one of a later day.
 */
function clockInstantMs(zone: string, day: number, minute: number): number {
  const wantedMs = day * DAY_MS + minute * MINUTE_MS;
  // If a clock is set back, the offset from before gives the first of the two instants.
  for (const probeMs of [wantedMs - BEFORE_MS, wantedMs + AFTER_MS]) {
    const instantMs = wantedMs - (shownMs(zone, probeMs) - probeMs);
    if (shownMs(zone, instantMs) === wantedMs) return instantMs;
  }
  return firstAt(wantedMs - BEFORE_MS, wantedMs + AFTER_MS, (atMs) => shownMs(zone, atMs) >= wantedMs);
}

function shownMs(zone: string, atMs: number): number {
  const clock = clockIn(zone, atMs);
  return dayNumber(clock) * DAY_MS + clock.hour * HOUR_MS + clock.minute * MINUTE_MS;
}
