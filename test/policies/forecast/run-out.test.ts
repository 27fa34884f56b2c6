import { describe, expect, test } from 'vitest';
import { type DailyUsage, type RunOutInput, runOut } from '../../../policies/forecast.ts';
import { calendarDay, dayNumber } from '../../../policies/limits/calendar.ts';

const DAY = (year: number, month: number, day: number) => dayNumber({ year, month, day });

/** One amount per day, the last of them the day before `today`. */
const daysUntil = (today: number, amounts: readonly number[]): readonly DailyUsage[] =>
  amounts.map((amount, index) => ({ day: calendarDay(today - amounts.length + index), amount }));

const ask = (over: Partial<RunOutInput>): string => {
  const forecast = runOut({
    usage: daysUntil(DAY(2026, 11, 21), Array(10).fill(24)),
    left: 24,
    nowMs: Date.UTC(2026, 10, 21),
    untilMs: Date.UTC(2026, 11, 1),
    zone: 'UTC',
    ...over,
  });
  if (forecast === undefined) return 'unknown';
  return forecast.outcome === 'lasts' ? 'lasts' : new Date(forecast.atMs).toISOString().slice(0, 16);
};

describe('at an even pace', () => {
  test.each([
    { guarantee: 'a day of it lasts a day', over: {}, at: '2026-11-22T00:00' },
    { guarantee: 'half a day of it half a day', over: { left: 12 }, at: '2026-11-21T12:00' },
    { guarantee: 'nothing left is over now', over: { left: 0 }, at: '2026-11-21T00:00' },
    { guarantee: 'to the end of the period is long enough', over: { left: 240 }, at: 'lasts' },
    { guarantee: 'an hour less is not', over: { left: 239 }, at: '2026-11-30T23:00' },
    {
      guarantee: 'what never starts anew is looked at for a year',
      over: { left: 24 * 365, untilMs: Infinity },
      at: '2027-11-21T00:00',
    },
    { guarantee: 'without history nobody knows', over: { usage: [] }, at: 'unknown' },
    {
      guarantee: 'who used nothing has enough',
      over: { usage: daysUntil(DAY(2026, 11, 21), [0, 0]) },
      at: 'lasts',
    },
  ])('$guarantee', ({ over, at }) => {
    expect(ask(over)).toBe(at);
  });
});

describe('days that are not 24 hours', () => {
  test.each([
    {
      zone: 'Europe/Berlin',
      today: DAY(2026, 10, 25),
      now: '2026-10-24T22:00Z',
      half: '2026-10-25T10:30',
      guarantee: 'half a day of 25 hours is 12.5',
    },
    {
      zone: 'Pacific/Kiritimati',
      today: DAY(2026, 11, 21),
      now: '2026-11-20T10:00Z',
      half: '2026-11-20T22:00',
      guarantee: 'a day 14 hours ahead begins 14 hours earlier',
    },
  ])('$guarantee', ({ zone, today, now, half }) => {
    const nowMs = Date.parse(now);
    const usage = daysUntil(today, Array(10).fill(24));
    expect(ask({ usage, zone, nowMs, untilMs: nowMs + 30 * 86_400_000, left: 12 })).toBe(half);
  });
});

test('weekends count like other days, and a day that is missing used nothing', () => {
  const today = DAY(2026, 11, 20);
  const week = daysUntil(today, [100, 100, 100, 100, 10, 10, 100]);
  const over = { nowMs: Date.UTC(2026, 10, 20), untilMs: Date.UTC(2026, 11, 31), left: 520 };
  expect(ask({ ...over, usage: week })).toBe('2026-11-27T00:00');
  expect(ask({ ...over, left: 500, usage: week.filter(({ amount }) => amount === 100) })).toBe(
    '2026-11-27T00:00',
  );
});
