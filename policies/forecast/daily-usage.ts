import { type CalendarDay, dayNumber } from '../limits/calendar.ts';

/** What was used on one day of the limit's zone, in whole units of the limit. */
export interface DailyUsage {
  readonly day: CalendarDay;
  readonly amount: number;
}

/** Four of each weekday: enough to tell a Monday from a Sunday, and short enough to follow a team that grows. */
export const PROFILE_DAYS = 28;

/** Eight weeks: with fewer, noise looks like a trend. */
export const HISTORY_DAYS = 2 * PROFILE_DAYS;

/** Nine months: what forecasts made on earlier days are compared with. */
export const TESTED_DAYS = 39 * 7;

/** Days that are over, from the first with usage on. */
export interface History {
  /** `dayNumber` of the first. */
  readonly first: number;
  /** One per day; a day nobody mentioned used nothing. */
  readonly amounts: readonly number[];
}

/** Today is left out, because it is not over, and so is what is older than so many days. Undefined: nothing is left. */
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

/** The same of a longer history, as it was known on an earlier day. Undefined: nothing was. */
export function historyAsOf({ first, amounts }: History, day: number): History | undefined {
  const known = amounts.slice(Math.max(0, day - HISTORY_DAYS - first), Math.max(0, day - first));
  const quiet = known.findIndex((amount) => amount > 0);
  return quiet < 0 ? undefined : { first: day - known.length + quiet, amounts: known.slice(quiet) };
}
