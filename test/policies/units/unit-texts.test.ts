import { expect, test } from 'vitest';
import { relativeText } from '../../../policies/text/edge-text.ts';
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
  [1_023, 'exact', '1023 B'],
  [512 * 2 ** 20, 'exact', '512 MiB'],
  [6e9, 'down', '5.58 GiB'],
  [2 ** 30 + 1, 'up', '1.01 GiB'],
  [2 ** 30 - 1, 'up', '1 GiB'],
  [3 * 2 ** 50, 'exact', '3,072 TiB'],
] as const)('%i bytes rounded %s are %s', (bytes, rounding, text) => {
  expect(bytesText(bytes, rounding)).toBe(text);
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
