import fc from 'fast-check';
import { expect, test } from 'vitest';
import { dailyRate, forecastBand, type History, proveForecasts } from '../../../policies/forecast.ts';
import { dayNumber } from '../../../policies/limits/calendar.ts';
import { propertyRuns } from '../../support/property-runs.ts';

const FIRST = dayNumber({ year: 2026, month: 2, day: 2 });

const histories: fc.Arbitrary<History> = fc
  .array(fc.nat({ max: 10_000_000_000 }), { minLength: 1, maxLength: 150 })
  .map((amounts) => ({ first: FIRST, amounts: [1, ...amounts] }));

const ahead = (history: History, days: number): readonly number[] =>
  Array.from({ length: days }, () => dailyRate(history));

test('a band holds what is forecast, never narrows with the days, and no edge of it falls', () => {
  fc.assert(
    fc.property(histories, fc.integer({ min: 1, max: 120 }), (history, days) => {
      const expected = ahead(history, days);
      const band = forecastBand(history, expected);
      if (band === undefined) {
        expect(history.amounts.length).toBeLessThan(23);
        return;
      }
      let together = 0;
      let before = { low: 0, high: 0, width: 0 };
      const least = (edge: number): number => edge - Math.abs(edge) * 1e-9 - 1e-6;
      band.forEach(({ low, high }, index) => {
        together += expected[index] ?? 0;
        expect(low).toBeGreaterThanOrEqual(0);
        expect(together).toBeGreaterThanOrEqual(least(low));
        expect(high).toBeGreaterThanOrEqual(least(together));
        expect(low).toBeGreaterThanOrEqual(least(before.low));
        expect(high).toBeGreaterThanOrEqual(least(before.high));
        expect(high - low).toBeGreaterThanOrEqual(least(before.width) - Math.abs(high) * 1e-9);
        before = { low, high, width: high - low };
      });
    }),
    { numRuns: propertyRuns(80) },
  );
});

test('where nothing is expected, nothing is in the band', () => {
  fc.assert(
    fc.property(histories, (history) => {
      for (const { low, high } of forecastBand(history, [0, 0, 0]) ?? []) expect([low, high]).toEqual([0, 0]);
    }),
    { numRuns: propertyRuns(30) },
  );
});

const even = (days: number): History => ({ first: FIRST, amounts: Array(days).fill(1_000) });

test('even use is forecast without an error for each whole month', () => {
  // February began before the history, and the last month is not over.
  expect(proveForecasts(even(273))).toEqual({ months: 8, error: 0 });
});

test('an error is counted for each morning from which a month was forecast', () => {
  const amounts = even(60).amounts.map((amount, index) => (index < 41 ? amount : 2 * amount));
  // March has 14 days of 1,000 and 17 of 2,000, so 48,000: after 7 and 14 days 31,000 is forecast, then a little more.
  const proof = proveForecasts({ first: FIRST, amounts });
  expect(proof?.months).toBe(1);
  const third = 14_000 + 7 * 2_000 + (10 * (21 * 1_000 + 7 * 2_000)) / 28;
  expect(proof?.error).toBeCloseTo((17 / 48 + 17 / 48 + (48_000 - third) / 48_000) / 3, 9);
});

test('without a whole month there is no proof, and three weeks are too few for a band', () => {
  expect(proveForecasts(even(40))).toBeUndefined();
  expect(forecastBand(even(20), [1])).toBeUndefined();
  expect(forecastBand(even(23), [1])).toHaveLength(1);
});
