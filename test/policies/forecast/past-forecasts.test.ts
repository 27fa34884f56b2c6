import { describe, expect, test } from 'vitest';
import { type History, historyAsOf, weekdayProfile } from '../../../policies/forecast.ts';
import { type ForecastProof, forecastBand, proveForecasts } from '../../../policies/forecast-band.ts';
import { dayNumber, weekday } from '../../../policies/limits/calendar.ts';
import { books, growing, scatter } from './forecast-bench.ts';

const DAYS = 273;

const proven = (history: History): ForecastProof => {
  const proof = proveForecasts(history);
  if (proof === undefined) throw new Error('no month');
  return proof;
};

/** How far off the same forecasts are by the weekdays alone. */
function profileError(history: History): number {
  const errors = proven(history).forecasts.map(({ year, month, daysOver, outcome }) => {
    const first = dayNumber({ year, month, day: 1 });
    const morning = first + daysOver;
    const known = historyAsOf(history, morning);
    const profile = known === undefined ? [] : weekdayProfile(known);
    let total = 0;
    for (let day = first; day < dayNumber({ year, month: month + 1, day: 1 }); day += 1)
      total += day < morning ? (history.amounts[day - history.first] ?? 0) : (profile[weekday(day)] ?? 0);
    return Math.abs(total - outcome) / outcome;
  });
  return errors.reduce((sum, error) => sum + error, 0) / errors.length;
}

test('even books are forecast without any error, each whole month three times, and the band holds all', () => {
  const { months, error, inside, forecasts } = proven(books(DAYS, () => 1));
  // February began before the books, and the last month is not over.
  expect(months).toBe(8);
  expect(forecasts).toHaveLength(24);
  expect(forecasts[0]).toMatchObject({ year: 2026, month: 3, daysOver: 7 });
  expect(error).toBeCloseTo(0, 6);
  expect(inside).toBe(1);
});

test('a forecast knows nothing of what came later', () => {
  const calm = books(60, () => 1);
  const wild = { ...calm, amounts: calm.amounts.map((amount, index) => (index < 41 ? amount : amount * 9)) };
  const [first] = proven(calm).forecasts;
  const [same] = proven(wild).forecasts;
  expect(same?.forecast).toBe(first?.forecast);
  expect(same?.band).toEqual(first?.band);
  expect(same?.outcome).toBeGreaterThan(first?.outcome ?? 0);
});

describe('books with a trend', () => {
  test.each([
    { name: 'growing by 5 % a week', history: growing(DAYS, 1.05), less: 0.5 },
    { name: 'shrinking by 4 % a week', history: growing(DAYS, 0.96), less: 0.5 },
    {
      name: 'growing by 8 % a week, scattered by a third',
      history: (() => {
        const around = scatter(0.33);
        return books(DAYS, (index) => 1.08 ** Math.floor(index / 7) * around());
      })(),
      less: 0.8,
    },
  ])('$name are forecast far better than by the weekdays alone', ({ history, less }) => {
    expect(proven(history).error).toBeLessThan(less * profileError(history));
  });

  test('scattered books without one are forecast hardly worse than by the weekdays alone', () => {
    const all = [1, 22, 333, 4444, 55_555, 666_666].map((seed) => books(DAYS, scatter(0.5, seed)));
    const sum = (errorOf: (history: History) => number): number =>
      all.reduce((total, history) => total + errorOf(history), 0);
    expect(sum((history) => proven(history).error)).toBeLessThan(1.1 * sum(profileError));
  });
});

test('of scattered books the band holds about four of five outcomes', () => {
  const shares = [0.2, 0.4, 0.6, 0.8].map((share) => {
    const around = scatter(share);
    return proven(books(DAYS, () => around())).inside ?? 0;
  });
  const mean = shares.reduce((sum, share) => sum + share, 0) / shares.length;
  expect(mean).toBeGreaterThan(0.65);
  expect(mean).toBeLessThan(0.97);
});

test.each([
  { guarantee: 'no whole month is known', history: books(40, () => 1) },
  { guarantee: 'no month used anything', history: books(DAYS, () => 0) },
])('without proof: $guarantee', ({ history }) => {
  expect(proveForecasts(history)).toBeUndefined();
});

test('three weeks are too few for a band', () => {
  expect(
    forecastBand(
      books(20, () => 1),
      [1],
    ),
  ).toBeUndefined();
  expect(
    forecastBand(
      books(23, () => 1),
      [1],
    ),
  ).toHaveLength(1);
});
