import { expect, test } from 'vitest';
import { readSpan } from '../../../../scripts/cli/report/span.ts';
import { UsageError } from '../../../../scripts/terminal/command.ts';

const NOW_MS = Date.parse('2026-11-21T12:00:00Z');
const of = (since: string, until: string | undefined, zone: string): readonly string[] => {
  const { sinceMs, untilMs } = readSpan(since, until, NOW_MS, zone);
  return [sinceMs, untilMs].map((atMs) => new Date(atMs).toISOString());
};

test.each([
  ['UTC', '2026-10-25', '2026-10-25', '2026-10-25T00:00:00.000Z', '2026-10-26T00:00:00.000Z'],
  // 25 hours and 23 hours, as the clocks are put back and forward.
  ['Europe/Berlin', '2026-10-25', '2026-10-25', '2026-10-24T22:00:00.000Z', '2026-10-25T23:00:00.000Z'],
  ['Europe/Berlin', '2026-03-29', '2026-03-29', '2026-03-28T23:00:00.000Z', '2026-03-29T22:00:00.000Z'],
  ['America/New_York', '2026-10-01', '2026-10-31', '2026-10-01T04:00:00.000Z', '2026-11-01T04:00:00.000Z'],
])('days are whole ones of %s, the last one included: %s to %s', (zone, since, until, from, to) => {
  expect(of(since, until, zone)).toEqual([from, to]);
});

test('instants and times ago are the same in every zone', () => {
  for (const zone of ['UTC', 'Asia/Tokyo']) {
    expect(of('2026-11-01T18:00Z', '2026-11-02T18:00+01:00', zone)).toEqual([
      '2026-11-01T18:00:00.000Z',
      '2026-11-02T17:00:00.000Z',
    ]);
    expect(of('36h', undefined, zone)).toEqual(['2026-11-20T00:00:00.000Z', '2026-11-21T12:00:00.000Z']);
  }
});

test('a day that has begun only in another zone is not before now', () => {
  expect(() => of('2026-11-22', undefined, 'America/New_York')).toThrow(UsageError);
});
