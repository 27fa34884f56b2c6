import { weekday } from '../limits/calendar.ts';
import { type History, PROFILE_DAYS } from './daily-usage.ts';

/** Two of each weekday: with fewer, one odd Tuesday would make every Tuesday odd. */
const WEEKDAYS_MIN = 14;

/** What a day is expected to use, by weekday; 0 is Monday. Seven numbers, not whole. */
type WeekdayProfile = readonly number[];

/** The mean of each weekday of the last four weeks, or one for all if the history is short. More usage on a day never makes any of them smaller. */
export function weekdayProfile({ first, amounts }: History): WeekdayProfile {
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
