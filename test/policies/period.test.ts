import { expect, test } from 'vitest';
import { type PeriodKind, periodAt } from '../../policies/period.ts';

const at = (iso: string): number => Date.parse(iso);
const iso = (ms: number): string => new Date(ms).toISOString();

test.each<[PeriodKind, string, string, string, string, string]>([
  // Summer time begins and ends: the day has 23 and 25 hours.
  [
    'day',
    'Europe/Berlin',
    '2026-03-29T12:00:00Z',
    '2026-03-29',
    '2026-03-28T23:00:00.000Z',
    '2026-03-29T22:00:00.000Z',
  ],
  [
    'day',
    'Europe/Berlin',
    '2026-10-25T12:00:00Z',
    '2026-10-25',
    '2026-10-24T22:00:00.000Z',
    '2026-10-25T23:00:00.000Z',
  ],
  [
    'day',
    'America/New_York',
    '2026-03-08T12:00:00Z',
    '2026-03-08',
    '2026-03-08T05:00:00.000Z',
    '2026-03-09T04:00:00.000Z',
  ],
  [
    'month',
    'Europe/Berlin',
    '2026-10-15T00:00:00Z',
    '2026-10',
    '2026-09-30T22:00:00.000Z',
    '2026-10-31T23:00:00.000Z',
  ],
  [
    'month',
    'UTC',
    '2026-12-31T23:59:59.999Z',
    '2026-12',
    '2026-12-01T00:00:00.000Z',
    '2027-01-01T00:00:00.000Z',
  ],
  // The ends of the world's clocks, and half hours.
  [
    'day',
    'Pacific/Kiritimati',
    '2026-11-20T11:00:00Z',
    '2026-11-21',
    '2026-11-20T10:00:00.000Z',
    '2026-11-21T10:00:00.000Z',
  ],
  [
    'day',
    'Pacific/Pago_Pago',
    '2026-11-21T10:00:00Z',
    '2026-11-20',
    '2026-11-20T11:00:00.000Z',
    '2026-11-21T11:00:00.000Z',
  ],
  [
    'day',
    'Asia/Kolkata',
    '2026-11-20T18:30:00Z',
    '2026-11-21',
    '2026-11-20T18:30:00.000Z',
    '2026-11-21T18:30:00.000Z',
  ],
  // Midnight that does not exist: the day begins at 01:00.
  [
    'day',
    'America/Sao_Paulo',
    '2018-11-04T12:00:00Z',
    '2018-11-04',
    '2018-11-04T03:00:00.000Z',
    '2018-11-05T02:00:00.000Z',
  ],
  // A day that does not exist: the one before ends where the one after begins.
  [
    'day',
    'Pacific/Apia',
    '2011-12-29T22:00:00Z',
    '2011-12-29',
    '2011-12-29T10:00:00.000Z',
    '2011-12-30T10:00:00.000Z',
  ],
  // Leap days.
  [
    'day',
    'UTC',
    '2028-02-29T00:00:00Z',
    '2028-02-29',
    '2028-02-29T00:00:00.000Z',
    '2028-03-01T00:00:00.000Z',
  ],
  ['month', 'UTC', '2028-02-29T23:00:00Z', '2028-02', '2028-02-01T00:00:00.000Z', '2028-03-01T00:00:00.000Z'],
  ['month', 'UTC', '2100-02-28T23:00:00Z', '2100-02', '2100-02-01T00:00:00.000Z', '2100-03-01T00:00:00.000Z'],
  // ISO weeks over the turn of the year.
  ['week', 'UTC', '2026-11-21T00:00:00Z', '2026-W47', '2026-11-16T00:00:00.000Z', '2026-11-23T00:00:00.000Z'],
  [
    'week',
    'UTC',
    '2027-01-03T23:59:59.999Z',
    '2026-W53',
    '2026-12-28T00:00:00.000Z',
    '2027-01-04T00:00:00.000Z',
  ],
  ['week', 'UTC', '2024-12-30T00:00:00Z', '2025-W01', '2024-12-30T00:00:00.000Z', '2025-01-06T00:00:00.000Z'],
  [
    'week',
    'Europe/Berlin',
    '2026-10-25T22:30:00Z',
    '2026-W43',
    '2026-10-18T22:00:00.000Z',
    '2026-10-25T23:00:00.000Z',
  ],
])('%s in %s at %s is %s, from %s to %s', (kind, zone, now, key, start, end) => {
  const period = periodAt(kind, zone, at(now));
  expect([period.key, iso(period.startMs), iso(period.endMs)]).toEqual([key, start, end]);
});

test('the last instant of a period is in it and the end is in the next', () => {
  for (const kind of ['day', 'week', 'month'] as const) {
    for (const zone of ['Europe/Berlin', 'America/St_Johns', 'Asia/Kathmandu', 'Australia/Lord_Howe']) {
      let period = periodAt(kind, zone, at('2025-12-01T12:00:00Z'));
      for (let step = 0; step < 400; step += 1) {
        expect(periodAt(kind, zone, period.endMs - 1)).toEqual(period);
        const next = periodAt(kind, zone, period.endMs);
        expect(next.startMs).toBe(period.endMs);
        expect(next.key).not.toBe(period.key);
        period = next;
      }
    }
  }
});

test('a clock that steps back finds the earlier period again', () => {
  const later = periodAt('month', 'UTC', at('2026-12-01T00:00:00Z'));
  expect(periodAt('month', 'UTC', at('2026-11-30T23:59:59.999Z')).key).toBe('2026-11');
  expect(periodAt('month', 'UTC', at('2026-12-01T00:00:00Z'))).toEqual(later);
});

test('labels are what people call the period', () => {
  const now = at('2026-11-21T12:00:00Z');
  const labels = (['day', 'week', 'month'] as const).map((kind) => periodAt(kind, 'UTC', now).label);
  expect(labels).toEqual(['21 November 2026', 'week 47 of 2026', 'November 2026']);
});
