import { weekday } from '../limits/calendar.ts';
import { type History, historyAsOf } from './daily-usage.ts';
import { weekdayProfile } from './weekday-profile.ts';
import { weeklyTrend } from './weekly-trend.ts';

/** What a day after the history is expected to use, by its `dayNumber`; not whole. */
type ExpectedUse = (day: number) => number;

/** What its weekday used in the last weeks, as the weeks go on. */
export function expectedUse(history: History): ExpectedUse {
  const profile = weekdayProfile(history);
  const trend = weeklyTrend(history);
  const today = history.first + history.amounts.length;
  const ofWeek = new Map<number, number>();
  return (day) => {
    const week = Math.floor((day - today) / 7) + 1;
    const factor = ofWeek.get(week) ?? trend(week);
    ofWeek.set(week, factor);
    return (profile[weekday(day)] ?? 0) * factor;
  };
}

/** With fewer days before it, a forecast is not counted among the past ones. */
const KNOWN_DAYS_MIN = 14;

/** What would have been expected on the morning of an earlier day. Undefined: too little was known. */
export type PastUse = (morning: number) => ExpectedUse | undefined;

/** Remembers each morning: every band looks at the same ones. */
export function pastUse(history: History): PastUse {
  const made = new Map<number, ExpectedUse | undefined>();
  return (morning) => {
    if (!made.has(morning)) {
      const known = morning - history.first < KNOWN_DAYS_MIN ? undefined : historyAsOf(history, morning);
      made.set(morning, known && expectedUse(known));
    }
    return made.get(morning);
  };
}
