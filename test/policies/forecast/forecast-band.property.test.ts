import fc from 'fast-check';
import { expect, test } from 'vitest';
import { expectedUse, type History } from '../../../policies/forecast.ts';
import { forecastBand } from '../../../policies/forecast-band.ts';
import { propertyRuns } from '../../support/property-runs.ts';
import { FIRST } from './forecast-bench.ts';

const histories: fc.Arbitrary<History> = fc
  .array(fc.nat({ max: 10_000_000_000 }), { minLength: 1, maxLength: 150 })
  .map((amounts) => ({ first: FIRST, amounts: [1, ...amounts] }));

const ahead = (history: History, days: number): readonly number[] => {
  const use = expectedUse({ ...history, amounts: history.amounts.slice(-56), first: FIRST });
  return Array.from({ length: days }, (_, index) => use(FIRST + 56 + index));
};

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
