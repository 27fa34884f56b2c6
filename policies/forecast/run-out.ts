import { calendarDay, dayNumber } from '../limits/calendar.ts';
import { dayIn, dayStartMs } from '../limits/zone.ts';
import { type DailyUsage, historyBefore } from './daily-usage.ts';
import { expectedUse } from './expected-use.ts';

/** `lasts`: until the period ends, or for a year where it does not. */
export type Forecast =
  | { readonly outcome: 'runs_out'; readonly atMs: number }
  | { readonly outcome: 'lasts' };

export interface RunOutQuestion {
  /** The last weeks, in any order; days nobody mentions used nothing. */
  readonly usage: readonly DailyUsage[];
  /** Whole units of the limit: the limit less what is settled and held. */
  readonly left: number;
  /** Unix ms. */
  readonly nowMs: number;
  /** When the number starts anew, Unix ms; Infinity: never. */
  readonly untilMs: number;
  /** IANA zone of the limit: it decides when a day begins, and days of 23 and 25 hours are days. */
  readonly zone: string;
}

/** The longest period is a year; nobody plans further with the usage of some weeks. */
const DAYS_MAX = 367;

/**
 * When what is left will be used up, if every day uses what its weekday did in the last weeks and the weeks go on as they
 * did, evenly over the day. Of what is left of today only that part is counted. Undefined: without a day of history nobody knows.
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
