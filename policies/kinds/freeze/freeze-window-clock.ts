import { DAY_MS, dayNumber } from '../../limits/calendar.ts';
import { clockIn } from '../../limits/zone.ts';

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
export function clockInstantMs(zone: string, day: number, minute: number): number {
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
