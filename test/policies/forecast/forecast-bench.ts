import type { History } from '../../../policies/forecast.ts';
import { dayNumber, weekday } from '../../../policies/limits/calendar.ts';

/** A Monday. */
export const FIRST = dayNumber({ year: 2026, month: 2, day: 2 });

/** So many days of books: five working days and quiet weekends, times what a day is given. */
export const books = (days: number, level: (index: number) => number): History => ({
  first: FIRST,
  amounts: Array.from({ length: days }, (_, index) =>
    Math.round((weekday(FIRST + index) < 5 ? 1_000_000 : 150_000) * level(index)),
  ),
});

/** Each week so many times the one before. */
export const growing = (days: number, growth: number): History =>
  books(days, (index) => growth ** Math.floor(index / 7));

/** Scatters by up to a share, the same way each time. */
export function scatter(share: number, seed = 1): () => number {
  let state = seed;
  return () => {
    state = (state * 48_271) % 2_147_483_647;
    return 1 + share * ((2 * state) / 2_147_483_647 - 1);
  };
}
