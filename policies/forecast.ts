/** Forecasts when a limit runs out: each coming day uses the mean of the last four weeks. */
import { type CalendarDay, calendarDay, dayIn, dayNumber, dayStartMs } from './limits/calendar.ts';

/** Whole weeks, so that quiet weekends count as often as in the days to come. */
export const HISTORY_DAYS = 28;
export const TESTED_DAYS = 39 * 7;
/** Past forecasts with fewer days of history are not counted. */
const KNOWN_DAYS_MIN = 14;
const DAYS_MAX = 367;

/** `lasts`: until the period ends, or for a year if it does not end. */
export type Forecast =
  | { readonly outcome: 'runs_out'; readonly atMs: number }
  | { readonly outcome: 'lasts' };

export interface RunOutQuestion {
  readonly usage: readonly DailyUsage[];
  /** The limit minus settled and held amounts, whole units. */
  readonly left: number;
  readonly nowMs: number;
  /** Infinity: the period never ends. */
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
export function runOut({ usage, left, nowMs, untilMs, zone }: RunOutQuestion): Forecast | undefined {
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

/** Returns the rate as it was on an earlier morning. Undefined if its history was too short. */
export function rateOn({ first, amounts }: History, morning: number): number | undefined {
  if (morning - first < KNOWN_DAYS_MIN) return undefined;
  const known = amounts.slice(Math.max(0, morning - HISTORY_DAYS - first), Math.max(0, morning - first));
  const quiet = known.findIndex((amount) => amount > 0);
  return quiet < 0 ? undefined : dailyRate({ first, amounts: known.slice(quiet) });
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
