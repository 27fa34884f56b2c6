/** Forecasts when a limit runs out: each coming day uses the mean of the last four weeks. */
import { type CalendarDay, calendarDay, dayIn, dayNumber, dayStartMs } from './limits/calendar.ts';

/** Whole weeks, so that quiet weekends count as often as in the days to come. */
export const HISTORY_DAYS = 28;
export const TESTED_DAYS = 39 * 7;
const KNOWN_DAYS_MIN = 14;
const DAYS_MAX = 367;

/** `lasts`: until the period ends, or for a year if it does not end. */
export type Forecast =
  | { readonly outcome: 'runs_out'; readonly atMs: number }
  | { readonly outcome: 'lasts' };

export interface RunOutInput {
  readonly usage: readonly DailyUsage[];
  readonly left: number;
  readonly nowMs: number;
  readonly untilMs: number;
  readonly zone: string;
}

export interface DailyUsage {
  readonly day: CalendarDay;
  readonly amount: number;
}

export interface History {
  readonly first: number;
  readonly amounts: readonly number[];
}

/** Returns undefined without a complete day of history. Today counts with its remaining part. */
export function runOut({ usage, left, nowMs, untilMs, zone }: RunOutInput): Forecast | undefined {
  const today = dayNumber(dayIn(zone, nowMs));
  const history = historyBefore(usage, today);
  if (history === undefined) return undefined;
  if (left <= 0) return { outcome: 'runs_out', atMs: nowMs };
  const perDay = dailyRate(history);
  if (perDay === 0) return { outcome: 'lasts' };
  let remaining = left;
  let startMs = dayStartMs(zone, calendarDay(today));
  for (let day = today; day < today + DAYS_MAX && startMs < untilMs; day += 1) {
    const endMs = dayStartMs(zone, calendarDay(day + 1));
    const fromMs = Math.max(startMs, nowMs);
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

export function dailyRate({ amounts }: History): number {
  const last = amounts.slice(-HISTORY_DAYS);
  return last.reduce((sum, amount) => sum + amount, 0) / last.length;
}

function rateOn({ first, amounts }: History, morning: number): number | undefined {
  if (morning - first < KNOWN_DAYS_MIN) return undefined;
  const known = amounts.slice(Math.max(0, morning - HISTORY_DAYS - first), Math.max(0, morning - first));
  const quiet = known.findIndex((amount) => amount > 0);
  return quiet < 0 ? undefined : dailyRate({ first, amounts: known.slice(quiet) });
}

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

/** Between which amounts four of five outcomes lie, if forecasts go on to be as far off as they were. Not whole. */
interface ForecastBand {
  readonly low: number;
  readonly high: number;
}

/** A little more than four of five: past forecasts look at nearly the same days, and so seem less far off than they are. */
const LOW = 0.07;
const HIGH = 0.93;
const FORECASTS_MIN = 7;
/** Forecasts of neighbouring mornings are hardly two: as many more are needed as a forecast goes ahead. */
const FORECASTS_PER_DAY = 2;

/**
 * Returns the range of cumulated use over the coming days. It repeats the forecast for each past morning and takes those
 * errors over the same number of days. The band never narrows with time and its edges never fall. Returns undefined if
 * the history is too short.
 *
 * @param ahead - expected use of each day from today on
 */
export function forecastBand(
  history: History,
  ahead: readonly number[],
): readonly ForecastBand[] | undefined {
  const errors = pastErrors(history, ahead.length);
  if (errors.length === 0) return undefined;
  let together = 0;
  let below = 0;
  let above = 0;
  return ahead.map((expected, index) => {
    together += expected;
    const { low, high } = errors[Math.min(index, errors.length - 1)] ?? { low: 0, high: 0 };
    below = Math.min(below + expected, Math.max(below, -low * together));
    above = Math.max(above, high * together);
    return { low: together - below, high: together + above };
  });
}

function pastErrors(history: History, daysMax: number): readonly ForecastBand[] {
  const { first, amounts } = history;
  const end = first + amounts.length;
  const byDays: number[][] = Array.from({ length: daysMax }, () => []);
  for (let from = first; from < end; from += 1) {
    const perDay = rateOn(history, from);
    if (perDay === undefined) continue;
    let used = 0;
    for (let days = 1; days <= daysMax && from + days <= end; days += 1) {
      used += amounts[from + days - 1 - first] ?? 0;
      byDays[days - 1]?.push(used / (perDay * days) - 1);
    }
  }
  const few = byDays.findIndex(
    (errors, index) => errors.length < Math.max(FORECASTS_MIN, FORECASTS_PER_DAY * (index + 1)),
  );
  return (few < 0 ? byDays : byDays.slice(0, few)).map((errors) => {
    const sorted = errors.toSorted((a, b) => a - b);
    // Include the forecast itself, even if it was always too high.
    return { low: Math.min(0, quantile(sorted, LOW)), high: Math.max(0, quantile(sorted, HIGH)) };
  });
}

function quantile(sorted: readonly number[], share: number): number {
  const at = share * (sorted.length - 1);
  const [below, above] = [sorted[Math.floor(at)] ?? 0, sorted[Math.ceil(at)] ?? 0];
  return below + (above - below) * (at - Math.floor(at));
}

const FORECAST_AFTER = [7, 14, 21];

/** Forecasts each whole month from three days in it. @returns the mean error as a share of the use. */
export function proveForecasts(history: History): { months: number; error: number } | undefined {
  const { first, amounts } = history;
  const end = first + amounts.length;
  const sum = (from: number, to: number): number =>
    amounts.slice(from - first, to - first).reduce((total, amount) => total + amount, 0);
  const { year, month } = calendarDay(first);
  const startOf = (index: number): number => dayNumber({ year, month: month + index, day: 1 });
  const errors: (readonly number[])[] = [];
  for (let index = 0; startOf(index + 1) <= end; index += 1) {
    const [start, next] = [startOf(index), startOf(index + 1)];
    const outcome = start < first ? 0 : sum(start, next);
    if (outcome === 0) continue;
    const ofMonth = FORECAST_AFTER.flatMap((daysOver) => {
      const morning = start + daysOver;
      const perDay = rateOn(history, morning);
      if (perDay === undefined) return [];
      return [Math.abs(sum(start, morning) + perDay * (next - morning) - outcome) / outcome];
    });
    if (ofMonth.length > 0) errors.push(ofMonth);
  }
  const all = errors.flat();
  if (all.length === 0) return undefined;
  return { months: errors.length, error: all.reduce((total, error) => total + error, 0) / all.length };
}
