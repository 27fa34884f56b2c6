import { expect, test } from 'vitest';
import {
  NANOS_PER_BYTE,
  NANOS_PER_MILLICPU,
  parseQuantity,
  type Quantity,
  quantityText,
  sumOfQuantities,
  wholeUnits,
} from '../../../policies/kubernetes/quantity.ts';

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
  ['0.1', ONE / 10n, '100m'],
  ['100m', ONE / 10n, '100m'],
  ['128974848', 128_974_848n * ONE, '128974848'],
  ['129e6', 129_000_000n * ONE, '129e6'],
  ['129M', 129_000_000n * ONE, '129M'],
  ['128974848000m', 128_974_848n * ONE, '128974848'],
  ['123Mi', 128_974_848n * ONE, '123Mi'],
  ['400m', (4n * ONE) / 10n, '400m'],
  // What the reference of the type says of its canonical form.
  ['1.5', 15n * (ONE / 10n), '1500m'],
  ['1.5Gi', 1536n * 1024n * 1024n * ONE, '1536Mi'],
  // Every suffix.
  ['1n', NANO, '1n'],
  ['1u', 1_000n, '1u'],
  ['1m', 1_000_000n, '1m'],
  ['12', 12n * ONE, '12'],
  ['1k', 1_000n * ONE, '1k'],
  ['1M', 10n ** 6n * ONE, '1M'],
  ['1G', 10n ** 9n * ONE, '1G'],
  ['1T', 10n ** 12n * ONE, '1T'],
  ['1P', 10n ** 15n * ONE, '1P'],
  ['1E', 10n ** 18n * ONE, '1E'],
  ['1Ki', 1024n * ONE, '1Ki'],
  ['1Mi', 1024n ** 2n * ONE, '1Mi'],
  ['6Gi', 6n * 1024n ** 3n * ONE, '6Gi'],
  ['1Ti', 1024n ** 4n * ONE, '1Ti'],
  ['1Pi', 1024n ** 5n * ONE, '1Pi'],
  ['1Ei', 1024n ** 6n * ONE, '1Ei'],
  // An E with a number is an exponent, one without is exa, one with i is binary.
  ['1e3', 1_000n * ONE, '1e3'],
  ['1E3', 1_000n * ONE, '1e3'],
  ['1e+3', 1_000n * ONE, '1e3'],
  ['1e-3', 1_000_000n, '1e-3'],
  ['1E-3', 1_000_000n, '1e-3'],
  ['1e0', ONE, '1'],
  ['1e4', 10_000n * ONE, '10e3'],
  ['12.5e2', 1_250n * ONE, '1250'],
  ['1.5E', 15n * 10n ** 17n * ONE, '1500P'],
  // Forms of the number.
  ['0', 0n, '0'],
  ['-0', 0n, '0'],
  ['-0.0m', 0n, '0'],
  ['0Gi', 0n, '0'],
  ['+5', 5n * ONE, '5'],
  ['5.', 5n * ONE, '5'],
  ['.5', ONE / 2n, '500m'],
  ['5.Gi', 5n * 1024n ** 3n * ONE, '5Gi'],
  ['.5Gi', 512n * 1024n ** 2n * ONE, '512Mi'],
  ['007', 7n * ONE, '7'],
  ['1.10', 11n * (ONE / 10n), '1100m'],
  // The largest suffix that leaves no fraction.
  ['1000m', ONE, '1'],
  ['1000', 1_000n * ONE, '1k'],
  ['12000000', 12_000_000n * ONE, '12M'],
  ['1024Mi', 1024n ** 3n * ONE, '1Gi'],
  ['1000Ki', 1_024_000n * ONE, '1000Ki'],
  ['1000E', 10n ** 21n * ONE, '1e21'],
  // A binary suffix that would need a fraction, or is less than its smallest, becomes a decimal one.
  ['0.5Ki', 512n * ONE, '512'],
  ['0.9765625Ki', 1_000n * ONE, '1k'],
  ['1.0001Ki', 1_024_102_400_000n, '1024102400u'],
  ['0.1Ki', 102_400_000_000n, '102400m'],
  // Finer than a billionth rounds up, so that something asked is something.
  ['0.1n', NANO, '1n'],
  ['1.1n', 2n, '2n'],
  ['1e-20', NANO, '1e-9'],
  // Binary numbers end at 2^63 - 1, decimal ones do not.
  ['8Ei', (2n ** 63n - 1n) * ONE, '9223372036854775807'],
  ['7Ei', 7n * 1024n ** 6n * ONE, '7Ei'],
  ['18446744073709551616', 2n ** 64n * ONE, '18446744073709551616'],
])('%s is %d billionths and is written %s', (text, nanos, canonical) => {
  expect(parseQuantity(text)?.nanos).toBe(nanos);
  expect(quantityText(read(text))).toBe(canonical);
});

test.each([
  ['', 'nothing'],
  [' ', 'a blank'],
  [' 1', 'a leading blank'],
  ['1 ', 'a trailing blank'],
  ['1\n', 'a trailing line break'],
  ['1 Gi', 'a blank before the suffix'],
  ['-1', 'a negative number'],
  ['-1n', 'a small negative number'],
  ['-0.0000000001', 'a negative number that is nearly 0'],
  ['.', 'a point alone'],
  ['+', 'a sign alone'],
  ['Gi', 'a suffix alone'],
  ['m', 'a decimal suffix alone'],
  ['e3', 'an exponent alone'],
  ['+-1', 'two signs'],
  ['1.1.1', 'two points'],
  ['1,5', 'a comma'],
  ['1_000', 'a separator'],
  ['1K', 'a large k without i'],
  ['1ki', 'a small k with i'],
  ['1gi', 'a small g'],
  ['1GB', 'bytes'],
  ['1GiB', 'binary bytes'],
  ['1i', 'i alone'],
  ['1mi', 'm with i'],
  ['1e', 'an exponent without a number'],
  ['1e+', 'an exponent with a sign only'],
  ['1e1.5', 'an exponent with a fraction'],
  ['1e3Gi', 'exponent and suffix'],
  ['1e3m', 'exponent and decimal suffix'],
  ['0x10', 'a hexadecimal number'],
  ['Infinity', 'infinity'],
  ['NaN', 'not a number'],
  ['١', 'digits of another script'],
  ['$CPU', 'a variable that is not expanded'],
  ['1$UNIT', 'a variable in place of a suffix'],
  ['1e100', 'an exponent past any machine'],
  ['1e-100', 'an exponent past any atom'],
  ['1e99999999999999999999', 'an exponent that is a long number'],
  ['1'.repeat(65), 'more digits than anybody means'],
])('%j is no quantity: %s', (text) => {
  expect(parseQuantity(text)).toBeUndefined();
});

test.each<[string, bigint, number | undefined, string]>([
  ['1.5', NANOS_PER_MILLICPU, 1_500, 'CPUs are thousands of millicpu'],
  ['100u', NANOS_PER_MILLICPU, 1, 'a part of a millicpu is a whole one'],
  ['1.0001', NANOS_PER_MILLICPU, 1_001, 'as is one on top of others'],
  ['0', NANOS_PER_MILLICPU, 0, 'nothing stays nothing'],
  ['1Ki', NANOS_PER_BYTE, 1_024, 'bytes are bytes'],
  ['500m', NANOS_PER_BYTE, 1, 'half a byte is a byte'],
  ['9007199254740991', NANOS_PER_BYTE, Number.MAX_SAFE_INTEGER, 'the last number that counts exactly'],
  ['9007199254740990.1', NANOS_PER_BYTE, Number.MAX_SAFE_INTEGER, 'and what rounds up to it'],
  ['9007199254740991.1', NANOS_PER_BYTE, undefined, 'what rounds up past it has no number'],
])('%s in units of %d billionths is %d: %s', (text, unit, whole) => {
  expect(wholeUnits(read(text).nanos, unit)).toBe(whole);
});

test.each<[readonly string[], string, string]>([
  [['1Gi', '512Mi'], '1536Mi', 'binary numbers make a binary number'],
  [['0', '1Gi'], '1Gi', 'nothing does not decide how a sum is written'],
  [['1', '500m', '1n'], '1500000001n', 'nothing is lost'],
  [[], '0', 'no numbers make 0'],
])('the sum of %j is %s: %s', (texts, sum) => {
  expect(quantityText(sumOfQuantities(texts.map(read)))).toBe(sum);
});
