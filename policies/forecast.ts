/**
 * Forecasts when a limit runs out, from the use of the last weeks.
 *
 * A day is expected to use the mean of its weekday over four weeks, multiplied by the trend of eight weeks.
 */
import { type CalendarDay, calendarDay, dayIn, dayNumber, dayStartMs, weekday } from './limits/calendar.ts';

/** Four of each weekday: enough to distinguish weekdays, and short enough to follow a growing team. */
const PROFILE_DAYS = 28;
/** Eight weeks: with fewer, noise looks like a trend. */
export const HISTORY_DAYS = 2 * PROFILE_DAYS;
/** Nine months of past forecasts are compared with real use. */
export const TESTED_DAYS = 39 * 7;
/** Two of each weekday: with fewer, one odd day would distort its weekday. */
const WEEKDAYS_MIN = 14;
/** Past forecasts with fewer days of history are not counted. */
const KNOWN_DAYS_MIN = 14;
/** The longest period is a year. */
const DAYS_MAX = 367;

const PROFILE_WEEKS = PROFILE_DAYS / 7;
/** Each week keeps this share of the previous week's growth, so that growth ends. */
const DAMPING = 0.85;
/** A larger weekly change is a jump, not a trend. */
const GROWTH_MAX = 1.2;

/** `lasts`: until the period ends, or for a year if it does not end. */
export type Forecast =
  | { readonly outcome: 'runs_out'; readonly atMs: number }
  | { readonly outcome: 'lasts' };

export interface RunOutQuestion {
  /** The last weeks, in any order. A missing day used nothing. */
  readonly usage: readonly DailyUsage[];
  /** The limit minus settled and held amounts, whole units. */
  readonly left: number;
  readonly nowMs: number;
  /** End of the period, Unix ms. Infinity: it never resets. */
  readonly untilMs: number;
  /** IANA zone of the limit. Days have 23 to 25 hours. */
  readonly zone: string;
}

export interface DailyUsage {
  readonly day: CalendarDay;
  readonly amount: number;
}

/** Complete days, from the first with use on. */
export interface History {
  readonly first: number;
  /** One per day. A missing day used nothing. */
  readonly amounts: readonly number[];
}

/**
 * Returns when the remaining amount will be used up, with even use over each day. Today counts with its remaining part.
 * Undefined without a complete day of history.
 */
export function runOut({ usage, left, nowMs, untilMs, zone }: RunOutQuestion): Forecast | undefined {
  const today = dayNumber(dayIn(zone, nowMs));
  const history = historyBefore(usage, today);
  if (history === undefined) return undefined;
  if (left <= 0) return { outcome: 'runs_out', atMs: nowMs };
  if (history.amounts.every((amount) => amount === 0)) return { outcome: 'lasts' };
  const expected = expectedUse(history);
  let remaining = left;
  let startMs = dayStartMs(zone, calendarDay(today));
  for (let day = today; day < today + DAYS_MAX && startMs < untilMs; day += 1) {
    const endMs = dayStartMs(zone, calendarDay(day + 1));
    const fromMs = Math.max(startMs, nowMs);
    const perDay = expected(day);
    const used = perDay * ((endMs - fromMs) / (endMs - startMs));
    if (used >= remaining) {
      const atMs = Math.min(endMs, Math.floor(fromMs + (endMs - startMs) * (remaining / perDay)));
      return atMs < untilMs ? { outcome: 'runs_out', atMs } : { outcome: 'lasts' };
    }
    remaining -= used;
    startMs = endMs;
  }
  return { outcome: 'lasts' };
}

/** Returns the expected use of a day after the history, by its `dayNumber`; not whole. */
type ExpectedUse = (day: number) => number;

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

/** Returns the forecast of an earlier morning. Undefined if its history was too short. */
export type PastUse = (morning: number) => ExpectedUse | undefined;

/** Caches each morning, because every band uses the same ones. */
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

/**
 * Returns the expected use by weekday, Monday first; not whole. A short history gives one mean for all. More use on a day
 * never lowers any of them.
 */
export function weekdayProfile({ first, amounts }: History): readonly number[] {
  const last = amounts.slice(-PROFILE_DAYS);
  const from = first + amounts.length - last.length;
  const byWeekday: number[][] = [[], [], [], [], [], [], []];
  last.forEach((amount, index) => {
    byWeekday[weekday(from + index)]?.push(amount);
  });
  if (last.length < WEEKDAYS_MIN) return byWeekday.map(() => mean(last));
  return byWeekday.map(mean);
}

const mean = (amounts: readonly number[]): number =>
  amounts.reduce((sum, amount) => sum + amount, 0) / amounts.length;

/** Returns the factor on the profile for the 1st, 2nd, 3rd … week from today; 1: no change. */
type WeeklyTrend = (week: number) => number;

const NO_TREND: WeeklyTrend = () => 1;

/**
 * Extends the weekly sums. Each pair of weeks gives a growth per week (Theil–Sen, of logarithms). The middle half of the
 * pairs must agree on the direction, and the smallest of them counts. So one odd week changes nothing and noise has no
 * trend. More use in the last week never lowers the trend.
 */
function weeklyTrend({ amounts }: History): WeeklyTrend {
  const sums = weeklySums(amounts);
  if (sums.length < PROFILE_WEEKS || sums.includes(0)) return NO_TREND;
  const logs = sums.map(Math.log);
  const slopes = logs
    .flatMap((from, index) => logs.slice(index + 1).map((to, further) => (to - from) / (further + 1)))
    .toSorted((a, b) => a - b);
  const [low, high] = [
    slopes[Math.ceil(slopes.length / 4)] ?? 0,
    slopes[Math.floor((slopes.length * 3) / 4) - 1] ?? 0,
  ];
  const most = Math.log(GROWTH_MAX);
  const growth = Math.max(-most, Math.min(most, low > 0 ? low : Math.min(0, high)));
  if (growth === 0) return NO_TREND;
  // The mean of the profile's weeks lies in their middle.
  return (week) =>
    Math.exp(growth * ((PROFILE_WEEKS - 1) / 2 + (DAMPING * (1 - DAMPING ** week)) / (1 - DAMPING)));
}

/** Sums of whole weeks up to yesterday, oldest first. A partial first week would look like growth. */
function weeklySums(amounts: readonly number[]): readonly number[] {
  const weeks = Math.floor(Math.min(HISTORY_DAYS, amounts.length) / 7);
  const from = amounts.length - weeks * 7;
  return Array.from({ length: weeks }, (_, week) =>
    amounts.slice(from + week * 7, from + week * 7 + 7).reduce((sum, amount) => sum + amount, 0),
  );
}

/** Returns the last `days` days before today, which is incomplete. Undefined if none has use. */
export function historyBefore(
  usage: readonly DailyUsage[],
  today: number,
  days = HISTORY_DAYS,
): History | undefined {
  const byDay = new Map<number, number>();
  for (const { day, amount } of usage) {
    const number = dayNumber(day);
    if (number < today - days || number >= today) continue;
    byDay.set(number, (byDay.get(number) ?? 0) + Math.max(0, amount));
  }
  if (byDay.size === 0) return undefined;
  const first = Math.min(...byDay.keys());
  return {
    first,
    amounts: Array.from({ length: today - first }, (_, index) => byDay.get(first + index) ?? 0),
  };
}

export function historyAsOf({ first, amounts }: History, day: number): History | undefined {
  const known = amounts.slice(Math.max(0, day - HISTORY_DAYS - first), Math.max(0, day - first));
  const quiet = known.findIndex((amount) => amount > 0);
  return quiet < 0 ? undefined : { first: day - known.length + quiet, amounts: known.slice(quiet) };
}
