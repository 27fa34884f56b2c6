import { weekday } from '../limits/calendar.ts';
import type { History } from './daily-usage.ts';

/** Two of each weekday: with fewer, one odd Tuesday would make every Tuesday odd. */
const PROFILE_DAYS_MIN = 14;

/** What a day is expected to use, by weekday; 0 is Monday. Seven numbers, not whole. */
type WeekdayProfile = readonly number[];

/** The mean of each weekday, or one for all if the history is short. More usage on a day never makes any of them smaller. */
export function weekdayProfile({ first, amounts }: History): WeekdayProfile {
  const byWeekday: number[][] = [[], [], [], [], [], [], []];
  amounts.forEach((amount, index) => {
    byWeekday[weekday(first + index)]?.push(amount);
  });
  if (amounts.length < PROFILE_DAYS_MIN) return byWeekday.map(() => mean(amounts));
  return byWeekday.map(mean);
}

const mean = (amounts: readonly number[]): number =>
  amounts.reduce((sum, amount) => sum + amount, 0) / amounts.length;
