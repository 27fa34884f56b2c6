import { expect, test } from 'vitest';
import { parseQuantity, type Quantity, quantityText } from '../../../policies/kubernetes/quantity.ts';

const NANO = 1n;
const ONE = 1_000_000_000n;

function read(text: string): Quantity {
  const quantity = parseQuantity(text);
  if (quantity === undefined) throw new Error(`${text} is no quantity`);
  return quantity;
}

test.each<[string, bigint, string]>([
  // What the Kubernetes documentation says of CPU and memory.
  ['0.5', ONE / 2n, '500m'],
  ['123Mi', 128_974_848n * ONE, '123Mi'],
  // What the reference of the type says of its canonical form.
  ['1.5Gi', 1536n * 1024n * 1024n * ONE, '1536Mi'],
  // Every suffix.
  // An E with a number is an exponent, one without is exa, one with i is binary.
  ['1e3', 1_000n * ONE, '1e3'],
  ['1E-3', 1_000_000n, '1e-3'],
  ['1.5E', 15n * 10n ** 17n * ONE, '1500P'],
  // Forms of the number.
  ['0', 0n, '0'],
  ['.5', ONE / 2n, '500m'],
  // The largest suffix that leaves no fraction.
  ['1024Mi', 1024n ** 3n * ONE, '1Gi'],
  // A binary suffix that would need a fraction, or is less than its smallest, becomes a decimal one.
  ['1.0001Ki', 1_024_102_400_000n, '1024102400u'],
  // Finer than a billionth rounds up, so that something asked is something.
  ['0.1n', NANO, '1n'],
  // Binary numbers end at 2^63 - 1, decimal ones do not.
  ['8Ei', (2n ** 63n - 1n) * ONE, '9223372036854775807'],
])('%s is %d billionths and is written %s', (text, nanos, canonical) => {
  expect(parseQuantity(text)?.nanos).toBe(nanos);
  expect(quantityText(read(text))).toBe(canonical);
});

test.each([
  ['', 'nothing'],
  [' ', 'a blank'],
  ['-1', 'a negative number'],
  ['.', 'a point alone'],
  ['Gi', 'a suffix alone'],
  ['1,5', 'a comma'],
  ['1K', 'a large k without i'],
  ['1GB', 'bytes'],
  ['1e3Gi', 'exponent and suffix'],
  ['$CPU', 'a variable that is not expanded'],
  ['1e100', 'an exponent past any machine'],
  ['1'.repeat(65), 'more digits than anybody means'],
])('%j is no quantity: %s', (text) => {
  expect(parseQuantity(text)).toBeUndefined();
});
