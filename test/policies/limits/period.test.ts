import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  overEverywhereMs,
  PERIOD_KINDS,
  type PeriodKind,
  periodAt,
} from '../../../policies/limits/period.ts';
import { propertyRuns } from '../../support/property-runs.ts';

const at = (iso: string): number => Date.parse(iso);

/** Kind, fiscal start, zone, instant: key, start and end. */
test.each([
  // Summer time ends: the day has 25 hours.
  'day 01-01 Europe/Berlin 2026-10-25T12:00Z 2026-10-25 2026-10-24T22:00 2026-10-25T23:00',
  'month 01-01 Europe/Berlin 2026-10-15T00:00Z 2026-10 2026-09-30T22:00 2026-10-31T23:00',
  // Midnight that does not exist: the day begins at 01:00.
  'day 01-01 America/Sao_Paulo 2018-11-04T12:00Z 2018-11-04 2018-11-04T03:00 2018-11-05T02:00',
  // A day that does not exist: the one before ends where the one after begins.
  'day 01-01 Pacific/Apia 2011-12-29T22:00Z 2011-12-29 2011-12-29T10:00 2011-12-30T10:00',
  // ISO weeks over the turn of the year.
  'week 01-01 UTC 2027-01-03T23:59:59.999Z 2026-W53 2026-12-28T00:00 2027-01-04T00:00',
  'week 01-01 UTC 2024-12-30T00:00Z 2025-W01 2024-12-30T00:00 2025-01-06T00:00',
  // Quarters and years are the calendar's if there is no fiscal start.
  'quarter 01-01 Europe/Berlin 2026-03-31T22:00Z 2026-Q2 2026-03-31T22:00 2026-06-30T22:00',
  // The British tax year: months and quarters begin on the 6th.
  'year 04-06 Europe/London 2026-04-05T22:59Z 2025@04-06 2025-04-05T23:00 2026-04-05T23:00',
  'year 04-06 Europe/London 2026-04-05T23:00Z 2026@04-06 2026-04-05T23:00 2027-04-05T23:00',
  'quarter 04-06 UTC 2027-01-05T23:59Z 2026-Q3@04-06 2026-10-06T00:00 2027-01-06T00:00',
  // The month of the leap day, and the last day every month has.
  'month 02-28 UTC 2028-02-29T00:00Z 2028-02@02-28 2028-02-28T00:00 2028-03-28T00:00',
  'year 02-28 UTC 2028-02-29T12:00Z 2028@02-28 2028-02-28T00:00 2029-02-28T00:00',
  // Months that begin on the 1st are the calendar's, whenever the year begins; quarters are numbered anew.
  'month 10-01 UTC 2026-11-21T00:00Z 2026-11 2026-11-01T00:00 2026-12-01T00:00',
  'year 10-01 America/New_York 2026-11-21T00:00Z 2026@10-01 2026-10-01T04:00 2027-10-01T04:00',
  // Minutes and hours are UTC's in every zone.
  'hour 01-01 Asia/Kolkata 2026-11-21T12:59:59.999Z 2026-11-21T12Z 2026-11-21T12:00 2026-11-21T13:00',
])('%s', (row) => {
  const [kind, fiscal = '', zone = '', now = '', ...expected] = row.split(' ');
  const period = periodAt(kind as PeriodKind, zone, at(now), fiscal);
  const minute = (ms: number): string => new Date(ms).toISOString().slice(0, 16);
  expect([period.key, minute(period.startMs), minute(period.endMs)]).toEqual(expected);
});

const ZONES = `UTC Europe/Berlin America/New_York America/St_Johns Asia/Kathmandu Asia/Kolkata
  Australia/Lord_Howe Pacific/Kiritimati Pacific/Pago_Pago Pacific/Chatham Etc/GMT+12 Africa/Cairo America/Santiago`.split(
  /\s+/,
);
const STARTS = ['01-01', '02-28', '04-01', '04-06', '07-01', '10-01', '12-28'];
const kindOf = fc.constantFrom(...PERIOD_KINDS.filter((kind) => kind !== 'once'));
const instant = fc.integer({ min: at('2015-01-01T00:00Z'), max: at('2060-01-01T00:00Z') });

test('every instant is in exactly one period: the end of one is the start of the next, and its key is its own', () => {
  fc.assert(
    fc.property(
      kindOf,
      fc.constantFrom(...ZONES),
      fc.constantFrom(...STARTS),
      instant,
      (kind, zone, start, nowMs) => {
        const period = periodAt(kind, zone, nowMs, start);
        expect(period.startMs).toBeLessThanOrEqual(nowMs);
        expect(period.endMs).toBeGreaterThan(nowMs);
        for (const inside of [period.startMs, period.endMs - 1])
          expect(periodAt(kind, zone, inside, start)).toEqual(period);
        const next = periodAt(kind, zone, period.endMs, start);
        expect(next.startMs).toBe(period.endMs);
        expect(next.key).not.toBe(period.key);
        expect(next.label).not.toBe(period.label);
        expect(periodAt(kind, zone, period.startMs - 1, start).endMs).toBe(period.startMs);
      },
    ),
    { numRuns: propertyRuns(2000) },
  );
});

test('no two periods of one kind share a key, whatever their fiscal starts', () => {
  for (const kind of PERIOD_KINDS.filter((each) => each !== 'once' && each !== 'minute')) {
    const spans = new Map<string, string>();
    for (const start of STARTS) {
      let period = periodAt(kind, 'UTC', at('2026-01-01T00:00Z'), start);
      for (let step = 0; step < 60; step += 1) {
        const span = `${period.startMs}–${period.endMs}`;
        expect(spans.get(period.key) ?? span, period.key).toBe(span);
        spans.set(period.key, span);
        period = periodAt(kind, 'UTC', period.endMs, start);
      }
    }
  }
});

const DAY_MS = 86_400_000;
const END_ZONES = ['UTC', 'Europe/Berlin', 'Pacific/Kiritimati', 'Pacific/Niue', 'Asia/Kolkata'];

test('a period is over everywhere at its own end or within two days of it, whatever its zone and fiscal start', () => {
  fc.assert(
    fc.property(
      fc.constantFrom(...PERIOD_KINDS.filter((kind) => kind !== 'once')),
      fc.constantFrom(...END_ZONES),
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
