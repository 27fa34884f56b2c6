import fc from 'fast-check';
import { expect, test } from 'vitest';
import { dailyRate, type History } from '../../../policies/forecast.ts';
import { forecastBand, proveForecasts } from '../../../policies/forecast-band.ts';
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

test('even use is forecast without an error, each whole month three times, and the band holds all', () => {
  const proof = proveForecasts(even(273));
  // February began before the history, and the last month is not over.
  expect(proof).toMatchObject({ months: 8, error: 0, inside: 1 });
  expect(proof?.forecasts).toHaveLength(24);
  expect(proof?.forecasts[0]).toMatchObject({ year: 2026, month: 3, daysOver: 7 });
});

test('a past forecast knows nothing of what came later', () => {
  const wild = {
    first: FIRST,
    amounts: even(60).amounts.map((amount, index) => (index < 41 ? amount : 9_000)),
  };
  const [first] = proveForecasts(even(60))?.forecasts ?? [];
  const [same] = proveForecasts(wild)?.forecasts ?? [];
  expect(same).toMatchObject({ forecast: first?.forecast, band: first?.band });
  expect(same?.outcome).toBeGreaterThan(first?.outcome ?? 0);
});

test('without a whole month there is no proof, and three weeks are too few for a band', () => {
  expect(proveForecasts(even(40))).toBeUndefined();
  expect(forecastBand(even(20), [1])).toBeUndefined();
  expect(forecastBand(even(23), [1])).toHaveLength(1);
});
