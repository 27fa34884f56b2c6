import { DAY_MS, weekday } from '../../limits/calendar.ts';
import type { Span } from './freeze-window.ts';
import { clockInstantMs } from './freeze-window-clock.ts';

/** The same clock times on the same days of every week; at most 24 hours long. */
export interface WeeklyWindow {
  /** Weekdays on which it begins; 0 is Monday. */
  readonly days: ReadonlySet<number>;
  /** Minute of the day on which it begins, 0–1439. */
  readonly fromMinute: number;
  /** Above `fromMinute`; from 1440 on it is one of the next day. */
  readonly untilMinute: number;
}

/** Far more than one question looks at; beyond that it starts anew rather than grow. */
const DAYS_REMEMBERED_MAX = 200;

/** The windows that may be open at an instant, on the calendar and the clocks of a zone; the same days come again and again. */
export function weeklySpans(
  windows: readonly WeeklyWindow[],
  zone: string,
): (atMs: number) => readonly Span[] {
  const known = new Map<number, readonly Span[]>();
  const spansOf = (day: number): readonly Span[] => {
    let spans = known.get(day);
    if (spans === undefined) {
      spans = windows.filter(({ days }) => days.has(weekday(day))).map((each) => spanOn(each, day, zone));
      if (known.size >= DAYS_REMEMBERED_MAX) known.clear();
      known.set(day, spans);
    }
    return spans;
  };
  return (atMs) => {
    if (windows.length === 0) return [];
    // The zone's day is at most one off, and a window that is still open may have begun on the day before it.
    const today = Math.floor(atMs / DAY_MS);
    return [today - 2, today - 1, today, today + 1].flatMap(spansOf);
  };
}

const spanOn = ({ fromMinute, untilMinute }: WeeklyWindow, day: number, zone: string): Span => ({
  startMs: clockInstantMs(zone, day, fromMinute),
  endMs: clockInstantMs(zone, day, untilMinute),
});
