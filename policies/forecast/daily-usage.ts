import { type CalendarDay, dayNumber } from '../limits/calendar.ts';

/** What was used on one day of the limit's zone, in whole units of the limit. */
export interface DailyUsage {
  readonly day: CalendarDay;
  readonly amount: number;
}

/** Four of each weekday: enough to tell a Monday from a Sunday, and short enough to follow a team that grows. */
export const HISTORY_DAYS = 28;

/** Days that are over, from the first with usage on. */
export interface History {
  /** `dayNumber` of the first. */
  readonly first: number;
  /** One per day; a day nobody mentioned used nothing. */
  readonly amounts: readonly number[];
}

/** Today is left out, because it is not over, and so is what is older than {@link HISTORY_DAYS}. Undefined: nothing is left. */
export function historyBefore(usage: readonly DailyUsage[], today: number): History | undefined {
  const byDay = new Map<number, number>();
  for (const { day, amount } of usage) {
    const number = dayNumber(day);
    if (number < today - HISTORY_DAYS || number >= today) continue;
    byDay.set(number, (byDay.get(number) ?? 0) + Math.max(0, amount));
  }
  if (byDay.size === 0) return undefined;
  const first = Math.min(...byDay.keys());
  return {
    first,
    amounts: Array.from({ length: today - first }, (_, index) => byDay.get(first + index) ?? 0),
  };
}
