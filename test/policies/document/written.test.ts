import fc from 'fast-check';
import { expect, test } from 'vitest';
import { readWrittenAmount, readWrittenDay } from '../../../policies/document/written.ts';

const EUR = { currency: 'EUR' } as const;

test.each([
  ['9,50', '9.50'],
  ['1.234,50', '1234.50'],
  ['1,234.50', '1234.50'],
  ['1.000.000', '1000000'],
  ['1 234,50', '1234.50'],
  ['12 EUR', '12'],
  ['12,5 €', '12.5'],
  ['0,125', '0.125'],
  ['Unlimited', 'unlimited'],
  ['1500m', '1500m'],
  ['80%', '80%'],
  ['lots', 'lots'],
])('%s is %s', (written, text) => {
  expect(readWrittenAmount(written, EUR)).toMatchObject({ ok: true, text });
});

test.each([
  ['1.000', "'1.000' may be 1000 or 1.0: write 1000, or 1.0"],
  ['1,500', "'1,500' may be 1500 or 1.5: write 1500, or 1.5"],
  ['12.125 EUR', 'may be 12125 or 12.125'],
  ['12 USD', 'is in USD, and all money here is in EUR'],
  ['$12', 'is in $, and all money here is in EUR'],
  ['1.23.456', 'is no number that can be read'],
  ['1 23', 'is no number that can be read'],
  ['+20%', 'there is none here yet'],
])('%s is asked about', (written, message) => {
  expect(readWrittenAmount(written, EUR)).toEqual({
    ok: false,
    message: expect.stringContaining(message),
  });
});

test.each([
  ['+20%', '500', '600'],
  ['-10%', '7.50', '6.75'],
  ['+12,5 %', '100', '112.5'],
  ['+50%', '256Gi', '384Gi'],
])('%s of %s is %s', (written, was, text) => {
  expect(readWrittenAmount(written, { ...EUR, was })).toEqual({ ok: true, text });
});

test('where it was said what decimals have, nothing is asked', () => {
  expect(readWrittenAmount('1.000', { ...EUR, decimal: ',' })).toEqual({ ok: true, text: '1000' });
  expect(readWrittenAmount('1,000', { ...EUR, decimal: ',' })).toEqual({ ok: true, text: '1.000' });
  expect(readWrittenAmount('9.50', { ...EUR, decimal: ',' }).ok).toBe(false);
});

test.each([
  ['31.12.2026', '2026-12-31'],
  ['1. 2. 2026', '2026-02-01'],
  ['2026-12-31', '2026-12-31'],
  ['2026-12-31T18:00Z', '2026-12-31T18:00Z'],
  ['12/31/2026', '12/31/2026'],
])('%s is the day %s', (written, text) => {
  expect(readWrittenDay(written)).toEqual({ ok: true, text });
});

test('a day that is not on the calendar is refused', () => {
  expect(readWrittenDay('31.02.2026')).toMatchObject({ ok: false });
});

test('what limits.yaml writes is read as it is, or asked about, but never read as something else', () => {
  fc.assert(
    fc.property(fc.nat(2_000_000), fc.nat(999_999), fc.nat(6), (whole, fraction, places) => {
      const decimals = String(fraction).padStart(6, '0').slice(0, places);
      const text = decimals === '' ? `${whole}` : `${whole}.${decimals}`;
      const read = readWrittenAmount(text, EUR);
      if (read.ok) expect(read.text).toBe(text);
      else expect(read.message).toContain('may be');
    }),
  );
});
