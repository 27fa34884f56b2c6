import fc from 'fast-check';
import { expect, test } from 'vitest';
import { frozenUntilMs, type WeeklyWindow, weeklySpans } from '../../../policies/kinds/freeze-window.ts';
import { clockIn, dayNumber, weekday } from '../../../policies/limits/calendar.ts';
import { propertyRuns } from '../../support/property-runs.ts';

const HOUR_MS = 3_600_000;
const FIRST_MS = Date.UTC(2026, 0, 1);

const instant = fc.integer({ min: 0, max: 500 * 24 * 3_600 }).map((second) => FIRST_MS + second * 1_000);
const absolute = fc.array(
  fc.tuple(instant, fc.integer({ min: 1, max: 400 * HOUR_MS })).map(([startMs, lengthMs]) => ({
    startMs,
    endMs: startMs + lengthMs,
  })),
  { maxLength: 4 },
);
const weekly = fc.array(
  fc
    .tuple(
      fc.uniqueArray(fc.integer({ min: 0, max: 6 }), { minLength: 1 }),
      fc.integer({ min: 0, max: 1_439 }),
      fc.integer({ min: 1, max: 1_440 }),
    )
    .map(([days, fromMinute, minutes]): WeeklyWindow => {
      return { days: new Set(days), fromMinute, untilMinute: fromMinute + minutes };
    }),
  { maxLength: 3 },
);
const CHANGING = ['Europe/Berlin', 'America/New_York', 'Australia/Lord_Howe', 'Africa/Cairo'];
const STEADY = ['UTC', 'Asia/Kolkata', 'Pacific/Kiritimati', 'Pacific/Pago_Pago'];

test('a freeze ends when it says, not before, and says so all the time', () => {
  fc.assert(
    fc.property(
      absolute,
      weekly,
      fc.constantFrom(...CHANGING, ...STEADY),
      instant,
      fc.double({ min: 0, max: 1, noNaN: true, maxExcluded: true }),
      (spans, windows, zone, atMs, part) => {
        const freeze = { absolute: spans, weeklyAt: weeklySpans(windows, zone) };
        const untilMs = frozenUntilMs(freeze, atMs);
        if (untilMs === undefined) return;
        expect(untilMs).toBeGreaterThan(atMs);
        if (untilMs === Number.POSITIVE_INFINITY) return;
        expect(frozenUntilMs(freeze, untilMs)).toBeUndefined();
        expect(frozenUntilMs(freeze, atMs + Math.floor((untilMs - atMs) * part))).toBe(untilMs);
      },
    ),
    { numRuns: propertyRuns(2_000) },
  );
});

test('where clocks are never changed, it is frozen exactly while calendar and clock show a time within a window', () => {
  fc.assert(
    fc.property(weekly, fc.constantFrom(...STEADY), instant, (windows, zone, atMs) => {
      const clock = clockIn(zone, atMs);
      const today = weekday(dayNumber(clock));
      const minute = clock.hour * 60 + clock.minute;
      const shown = windows.some(
        ({ days, fromMinute, untilMinute }) =>
          (days.has(today) && fromMinute <= minute && minute < untilMinute) ||
          (days.has((today + 6) % 7) && minute + 1_440 < untilMinute && fromMinute <= minute + 1_440),
      );
      const freeze = { absolute: [], weeklyAt: weeklySpans(windows, zone) };
      expect(frozenUntilMs(freeze, atMs) !== undefined).toBe(shown);
    }),
    { numRuns: propertyRuns(2_000) },
  );
});

test('one more window never lets a job start that was frozen', () => {
  fc.assert(
    fc.property(
      absolute,
      weekly,
      weekly,
      fc.constantFrom(...CHANGING),
      instant,
      (spans, some, more, zone, atMs) => {
        const less = frozenUntilMs({ absolute: spans, weeklyAt: weeklySpans(some, zone) }, atMs);
        const all = frozenUntilMs({ absolute: spans, weeklyAt: weeklySpans([...some, ...more], zone) }, atMs);
        if (less !== undefined) expect(all).toBeGreaterThanOrEqual(less);
      },
    ),
    { numRuns: propertyRuns(1_000) },
  );
});
