import fc from 'fast-check';
import { expect, test } from 'vitest';
import { PERIOD_KINDS, periodAt } from '../../../policies/limits/period.ts';
import { overEverywhereMs } from '../../../policies/limits/period-end.ts';

const DAY_MS = 86_400_000;
const ZONES = ['UTC', 'Europe/Berlin', 'Pacific/Kiritimati', 'Pacific/Niue', 'Asia/Kolkata'];

test('a period is over everywhere at its own end or within two days of it, whatever its zone and fiscal start', () => {
  fc.assert(
    fc.property(
      fc.constantFrom(...PERIOD_KINDS.filter((kind) => kind !== 'once')),
      fc.constantFrom(...ZONES),
      fc.constantFrom('01-01', '04-06', '07-01', '12-28', '02-28'),
      fc.integer({ min: Date.UTC(2020, 0, 1), max: Date.UTC(2040, 0, 1) }),
      (kind, zone, fiscalStart, nowMs) => {
        const { key, endMs } = periodAt(kind, zone, nowMs, fiscalStart);
        expect(overEverywhereMs(key) - endMs).toBeGreaterThanOrEqual(0);
        expect(overEverywhereMs(key) - endMs).toBeLessThan(2 * DAY_MS);
      },
    ),
  );
});

test.each(['once', 'now', '', 'a period of later', '2026-13x', '2026-11-99'])(
  'what %j names is never over',
  (key) => {
    expect(overEverywhereMs(key)).toBe(Number.POSITIVE_INFINITY);
  },
);
