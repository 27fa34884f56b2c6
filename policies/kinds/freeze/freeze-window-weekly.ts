import { DAY_MS, dayNumber, weekday } from '../../limits/calendar.ts';
import { clockIn } from '../../limits/zone.ts';
import { remembered } from '../../match/remember.ts';
import type { FreezeSpan } from './freeze-window.ts';

/** The same clock times on the same days of every week; at most 24 hours long. */
export interface WeeklyWindow {
  /** Weekdays on which it begins; 0 is Monday. */
  readonly days: ReadonlySet<number>;
  /** Minute of the day on which it begins, 0–1439. */
  readonly fromMinute: number;
  /** Above `fromMinute`; from 1440 on it is one of the next day. */
  readonly untilMinute: number;
}

/** Far more than one question looks at. */
const DAYS_REMEMBERED_MAX = 200;

/** The windows that may be open at an instant, on the calendar and the clocks of a zone; the same days come again and again. */
export function weeklySpans(
  windows: readonly WeeklyWindow[],
  zone: string,
): (atMs: number) => readonly FreezeSpan[] {
  const known = new Map<number, readonly FreezeSpan[]>();
  const spansOf = (day: number): readonly FreezeSpan[] =>
    remembered(known, day, DAYS_REMEMBERED_MAX, () =>
      windows.filter(({ days }) => days.has(weekday(day))).map((each) => spanOn(each, day, zone)),
    );
  return (atMs) => {
    if (windows.length === 0) return [];
    // The zone's day is at most one off, and a window that is still open may have begun on the day before it.
    const today = Math.floor(atMs / DAY_MS);
    return [today - 2, today - 1, today, today + 1].flatMap(spansOf);
  };
}

const spanOn = ({ fromMinute, untilMinute }: WeeklyWindow, day: number, zone: string): FreezeSpan => ({
  startMs: clockInstantMs(zone, day, fromMinute),
  endMs: clockInstantMs(zone, day, untilMinute),
});

const HOUR_MS = 3_600_000;
const MINUTE_MS = 60_000;

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
  // Where a clock is set back, the offset from before gives the first of the two instants.
  for (const probeMs of [wantedMs - BEFORE_MS, wantedMs + AFTER_MS]) {
    const instantMs = wantedMs - (shownMs(zone, probeMs) - probeMs);
    if (shownMs(zone, instantMs) === wantedMs) return instantMs;
  }
  return skipMs(zone, wantedMs);
}

/** What the clocks show, as if it were UTC. */
function shownMs(zone: string, atMs: number): number {
  const clock = clockIn(zone, atMs);
  return dayNumber(clock) * DAY_MS + clock.hour * HOUR_MS + clock.minute * MINUTE_MS;
}

/** The first instant at which the clocks show more than a time they never show. */
function skipMs(zone: string, wantedMs: number): number {
  let before = wantedMs - BEFORE_MS;
  let after = wantedMs + AFTER_MS;
  while (after - before > 1) {
    const middle = before + Math.floor((after - before) / 2);
    if (shownMs(zone, middle) >= wantedMs) after = middle;
    else before = middle;
  }
  return after;
}
