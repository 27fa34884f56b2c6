import { describe, expect, test } from 'vitest';
import { expectedUse, weeklyTrend } from '../../../policies/forecast.ts';
import { books, FIRST, growing, scatter } from './forecast-bench.ts';

describe('books that grow by 5 % a week', () => {
  const trend = weeklyTrend(growing(56, 1.05));

  test('go on from the middle of the four weeks of the profile', () => {
    // A week and a half to the last one, and most of a week to the next.
    expect(trend(1)).toBeCloseTo(1.05 ** (1.5 + 0.85), 2);
  });

  test('grow less every week that is farther away, and not for ever', () => {
    const steps = [1, 2, 3, 4, 5].map((week) => trend(week + 1) / trend(week));
    expect(steps).toEqual(steps.toSorted((a, b) => b - a));
    expect(trend(60)).toBeLessThan(1.05 ** 7.2);
  });
});

test.each([
  { guarantee: 'even books have no trend', history: books(56, () => 1) },
  { guarantee: 'what scatters has no trend', history: books(56, scatter(0.3)) },
  { guarantee: 'one odd week is no trend', history: books(56, (index) => (index >= 49 ? 0.1 : 1)) },
  { guarantee: 'three weeks are too few', history: growing(27, 1.3) },
  { guarantee: 'a team that began in the middle of a week does not grow', history: books(31, () => 1) },
  { guarantee: 'a week without any usage says nothing', history: books(28, (index) => (index < 7 ? 0 : 1)) },
])('$guarantee', ({ history }) => {
  expect([1, 2, 9].map(weeklyTrend(history))).toEqual([1, 1, 1]);
});

test('no trend grows by more than a fifth a week, and shrinking stays above nothing', () => {
  expect(weeklyTrend(growing(56, 2))(1)).toBeCloseTo(1.2 ** 2.35, 5);
  const shrinking = expectedUse(growing(56, 0.5));
  for (let day = 0; day < 365; day += 1) expect(shrinking(FIRST + 56 + day)).toBeGreaterThan(0);
});
