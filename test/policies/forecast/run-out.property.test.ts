import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type DailyUsage, type Forecast, runOut } from '../../../policies/forecast.ts';
import { calendarDay, dayIn, dayNumber } from '../../../policies/limits/calendar.ts';

const cases = fc.record({
  zone: fc.constantFrom(
    'UTC',
    'Europe/Berlin',
    'America/New_York',
    'Pacific/Kiritimati',
    'Pacific/Pago_Pago',
  ),
  nowMs: fc.integer({ min: Date.UTC(2026, 0, 1), max: Date.UTC(2027, 0, 1) }),
  days: fc.array(fc.tuple(fc.nat({ max: 10_000_000_000 }), fc.nat({ max: 10_000_000_000 })), {
    minLength: 1,
    maxLength: 70,
  }),
  left: fc.nat({ max: 100_000_000_000 }),
  periodDays: fc.integer({ min: 1, max: 60 }),
});

const lastsMs = (forecast: Forecast | undefined): number =>
  forecast?.outcome === 'runs_out' ? forecast.atMs : Number.POSITIVE_INFINITY;

test('more usage in the last week never lasts longer, less left never does, and the instant is within the period', () => {
  fc.assert(
    fc.property(cases, fc.nat({ max: 1_000_000_000 }), ({ zone, nowMs, days, left, periodDays }, less) => {
      const today = dayNumber(dayIn(zone, nowMs));
      const usage = (more: boolean): readonly DailyUsage[] =>
        days.map(([amount, extra], index) => ({
          day: calendarDay(today - days.length + index),
          amount: more && index >= days.length - 7 ? amount + extra : amount,
        }));
      const untilMs = nowMs + periodDays * 86_400_000;
      const question = { usage: usage(false), left, nowMs, untilMs, zone };
      const forecast = lastsMs(runOut(question));
      expect(lastsMs(runOut({ ...question, usage: usage(true) }))).toBeLessThanOrEqual(forecast);
      expect(lastsMs(runOut({ ...question, left: left - less }))).toBeLessThanOrEqual(forecast);
      expect(forecast).toBeGreaterThanOrEqual(nowMs);
      if (Number.isFinite(forecast)) expect(forecast).toBeLessThan(untilMs);
    }),
    { numRuns: 150 },
  );
});
