import { expect, test } from 'vitest';
import { durationText, relativeText } from '../../../policies/text/duration-text.ts';
import { instantText } from '../../../policies/text/instant-text.ts';
import { moneyText } from '../../../policies/text/money-text.ts';

test.each([
  [0, '0.00'],
  [1, '0.000001'],
  [500_000_000, '500.00'],
  [4_210_000_000, '4,210.00'],
  [1_234_567_890_123, '1,234,567.890123'],
  [12_500, '0.0125'],
  [-300_000, '-0.30'],
  [Number.MAX_SAFE_INTEGER, '9,007,199,254.740991'],
])('%i micro-units are %s, exactly', (micros, text) => {
  expect(moneyText(micros)).toBe(text);
});

test.each([
  [3_748_461, 'nearest', '3.75'],
  [101_539, 'down', '0.10'],
  [498_461, 'up', '0.50'],
  [5_000_000, 'up', '5.00'],
  [999_999, 'down', '0.99'],
  [9_999, 'down', '0.009999'],
  [1, 'up', '0.000001'],
  [-15_000, 'nearest', '-0.01'],
] as const)('%i micro-units rounded %s are %s', (micros, rounding, text) => {
  expect(moneyText(micros, rounding)).toBe(text);
});

test.each([
  [0, '0 min'],
  [45, '45 s'],
  [60, '1 min'],
  [61, '1.1 min'],
  [450, '7.5 min'],
  [60_000, '1,000 min'],
])('%i seconds are %s, never rounded down', (seconds, text) => {
  expect(durationText(seconds)).toBe(text);
});

test.each([
  [0, 'now'],
  [1, 'in 1 minute'],
  [12 * 60_000, 'in 12 minutes'],
  [3 * 3_600_000, 'in 3 hours'],
  [8 * 86_400_000, 'in 8 days'],
  [-5, 'now'],
])('%i ms ahead is %s', (ms, text) => {
  expect(relativeText(1_000, 1_000 + ms)).toBe(text);
});

test.each([
  ['2026-10-31T23:00:00Z', 'Europe/Berlin', '1 Nov 2026 00:00 Europe/Berlin'],
  ['2026-10-31T23:00:00Z', 'UTC', '31 Oct 2026 23:00 UTC'],
  ['2026-11-21T18:30:00Z', 'Asia/Kolkata', '22 Nov 2026 00:00 Asia/Kolkata'],
])('%s in %s is %s', (at, zone, text) => {
  expect(instantText(Date.parse(at), zone)).toBe(text);
});
