import fc from 'fast-check';
import { expect, test } from 'vitest';
import { instantText, relativeText } from '../../../policies/text/edge-text.ts';
import {
  amountText,
  bareAmountText,
  bytesText,
  durationText,
  moneyText,
} from '../../../policies/unit-texts.ts';

test.each([
  [0, '0.00'],
  [1, '0.000001'],
  [4_210_000_000, '4,210.00'],
  [1_234_567_890_123, '1,234,567.890123'],
  [-300_000, '-0.30'],
  [Number.MAX_SAFE_INTEGER, '9,007,199,254.740991'],
])('%i micro-units are %s, exactly', (micros, text) => {
  expect(moneyText(micros)).toBe(text);
});

test.each([
  [45, '45 s'],
  [61, '1.1 min'],
  [450, '7.5 min'],
  [60_000, '1,000 min'],
])('%i seconds are %s, never rounded down', (seconds, text) => {
  expect(durationText(seconds)).toBe(text);
});

test.each([
  [71, 'up', '1.2 min'],
  [71, 'down', '1.1 min'],
] as const)('%i seconds rounded %s are %s', (seconds, rounding, text) => {
  expect(durationText(seconds, rounding)).toBe(text);
});

test.each([
  [1_023, 'exact', '1023 B'],
  [512 * 2 ** 20, 'exact', '512 MiB'],
  [6e9, 'down', '5.58 GiB'],
  [2 ** 30 + 1, 'up', '1.01 GiB'],
  [2 ** 30 - 1, 'up', '1 GiB'],
  [3 * 2 ** 50, 'exact', '3,072 TiB'],
] as const)('%i bytes rounded %s are %s', (bytes, rounding, text) => {
  expect(bytesText(bytes, rounding)).toBe(text);
});

test('what is left and what is needed never look as if it fitted', () => {
  const units = ['micros', 'seconds', 'jobs', 'millicpu', 'bytes', 'starts'] as const;
  fc.assert(
    fc.property(
      fc.constantFrom(...units),
      fc.nat(2 ** 40),
      fc.integer({ min: 1, max: 2 ** 20 }),
      (unit, left, short) => {
        const [has, needs] = [bareAmountText(left, unit, 'down'), bareAmountText(left + short, unit, 'up')];
        expect(has).not.toBe(needs);
      },
    ),
  );
});

test.each([
  [500, 'millicpu', '0.5 CPU', '0.5'],
  [1_250_000, 'millicpu', '1,250 CPU', '1,250'],
  [30, 'starts', '30 job starts', '30'],
  [1, 'starts', '1 job start', '1'],
  [1, 'jobs', '1 job', '1'],
  [6 * 2 ** 30, 'bytes', '6 GiB', '6 GiB'],
  [500_000_000, 'micros', '500.00 EUR', '500.00'],
  [60_000, 'seconds', '1,000 min', '1,000'],
] as const)('%i %s are %s, and %s before the unit', (amount, unit, text, bare) => {
  expect([amountText(amount, unit, 'EUR'), bareAmountText(amount, unit)]).toEqual([text, bare]);
});

test.each([
  [0, 'now'],
  [1, 'in 1 minute'],
  [3 * 3_600_000, 'in 3 hours'],
  [8 * 86_400_000, 'in 8 days'],
])('%i ms ahead is %s', (ms, text) => {
  expect(relativeText(1_000, 1_000 + ms)).toBe(text);
});

test.each([
  ['2026-10-31T23:00:00Z', 'Europe/Berlin', '1 Nov 2026 00:00 Europe/Berlin'],
  ['2026-11-21T18:30:00Z', 'Asia/Kolkata', '22 Nov 2026 00:00 Asia/Kolkata'],
])('%s in %s is %s', (at, zone, text) => {
  expect(instantText(Date.parse(at), zone)).toBe(text);
});
