import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  parseQuantity,
  type Quantity,
  quantityText,
  sumOfQuantities,
} from '../../../policies/kubernetes/quantity.ts';
import { propertyRuns } from '../../support/property-runs.ts';

const DECIMAL_POWERS = { n: -9, u: -6, m: -3, '': 0, k: 3, M: 6, G: 9, T: 12, P: 15, E: 18 };
const BINARY_POWERS = { Ki: 10n, Mi: 20n, Gi: 30n, Ti: 40n, Pi: 50n, Ei: 60n };

const suffix = fc.oneof(
  fc.constantFrom(...Object.keys(DECIMAL_POWERS)),
  fc.constantFrom(...Object.keys(BINARY_POWERS)),
  fc.integer({ min: -30, max: 30 }).map((power) => `e${power}`),
);
const digits = (min: number): fc.Arbitrary<string> =>
  fc.string({ unit: fc.constantFrom(...'0123456789'), minLength: min, maxLength: 15 });
const number = fc.oneof(
  digits(1),
  fc.tuple(digits(1), digits(0)).map(([whole, fraction]) => `${whole}.${fraction}`),
  digits(1).map((fraction) => `.${fraction}`),
);
const text = fc
  .tuple(fc.constantFrom('', '+'), number, suffix)
  .map(([sign, amount, unit]) => `${sign}${amount}${unit}`);

function read(written: string): Quantity {
  const quantity = parseQuantity(written);
  if (quantity === undefined) throw new Error(`${written} is no quantity`);
  return quantity;
}

test('what is written is read as the same amount, and written the same again', () => {
  fc.assert(
    fc.property(text, (written) => {
      const quantity = read(written);
      const canonical = quantityText(quantity);
      expect(read(canonical).nanos).toBe(quantity.nanos);
      expect(quantityText(read(canonical))).toBe(canonical);
      expect(canonical).toMatch(/^\d+(?:[numkMGTPE]|[KMGTPE]i|e-?\d+)?$/);
    }),
    { numRuns: propertyRuns(2_000) },
  );
});

test('a sum is written as exactly its parts together', () => {
  fc.assert(
    // Binary sums may pass 2^63 - 1, where Kubernetes stops reading them: see the table.
    fc.property(
      fc.array(
        text.filter((each) => !each.endsWith('i')),
        { maxLength: 5 },
      ),
      (texts) => {
        const parts = texts.map(read);
        expect(read(quantityText(sumOfQuantities(parts))).nanos).toBe(
          parts.reduce((sum, { nanos }) => sum + nanos, 0n),
        );
      },
    ),
  );
});

test('no text makes it fail, whatever its form and length', () => {
  const alphabet = fc.constantFrom(...'0123456789.+-eEnumkKMGTPi $');
  fc.assert(
    fc.property(fc.oneof(fc.string(), fc.string({ unit: alphabet })), (written) => {
      const quantity = parseQuantity(written);
      if (quantity !== undefined) expect(quantity.nanos).toBeGreaterThanOrEqual(0n);
    }),
    { numRuns: propertyRuns(2_000) },
  );
});
