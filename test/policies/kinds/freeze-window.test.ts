import { expect, test } from 'vitest';
import { NOW_MS } from '../documents.ts';
import { reasonsOf } from './checking.ts';

/** When the freeze that holds at an instant ends; `lifted`: when somebody lifts it; undefined: none holds. */
function until(parts: object, atMs: number): string | undefined {
  const [reason] = reasonsOf({ kind: 'freeze', ...parts }, {}, atMs);
  if (reason?.code !== 'GROUP_FROZEN') return undefined;
  return reason.untilMs === undefined
    ? 'lifted'
    : new Date(reason.untilMs).toISOString().replace(':00.000Z', '');
}

const BERLIN = 'Europe/Berlin';

test.each<[string, readonly object[], string, string]>([
  // Absolute windows.
  // Days are whole.
  ['UTC', [{ from: '2026-12-24', until: '2026-12-26' }], '2026-12-24T00:00', '2026-12-27T00:00'],
  // An instant has its own offset.
  [
    BERLIN,
    [{ from: '2026-12-24T18:00Z', until: '2026-12-25T06:00+02:00' }],
    '2026-12-24T18:00',
    '2026-12-25T04:00',
  ],
  // Weekly windows. 21 November 2026 is a Saturday.
  // Without times days are whole, and touch.
  [BERLIN, [{ days: ['sat', 'sun'] }], '2026-11-20T23:00', '2026-11-22T23:00'],
  // The next day may be in the next week.
  [BERLIN, [{ days: ['sun'], from: '18:00', until: '06:00' }], '2026-11-22T17:00', '2026-11-23T05:00'],
  // Far behind UTC a window that is open began two days ago by UTC.
  [
    'Pacific/Pago_Pago',
    [{ days: ['fri'], from: '18:00', until: '17:00' }],
    '2026-11-21T05:00',
    '2026-11-22T04:00',
  ],
  // Clocks are changed.
  // A night of 11 hours.
  [BERLIN, [{ days: ['sat'], from: '18:00', until: '06:00' }], '2026-03-28T17:00', '2026-03-29T04:00'],
  // A start the clocks skip is when they skip it.
  [BERLIN, [{ days: ['sun'], from: '02:30', until: '04:00' }], '2026-03-29T01:00', '2026-03-29T02:00'],
  // Of a time shown twice the first starts.
  [BERLIN, [{ days: ['sun'], from: '02:30', until: '04:00' }], '2026-10-25T00:30', '2026-10-25T03:00'],
  // A midnight that does not exist.
  ['America/Sao_Paulo', [{ days: ['sun'] }], '2018-11-04T03:00', '2018-11-05T02:00'],
  // Windows that touch or overlap.
  [
    'UTC',
    [{ days: ['sat', 'sun'] }, { from: '2026-11-23', until: '2026-11-27' }],
    '2026-11-21T00:00',
    '2026-11-30T00:00',
  ],
  // Weekends around weeks that are frozen otherwise end all the same.
  [
    'UTC',
    [{ days: ['sat', 'sun'] }, { from: '2026-11-23', until: '2027-01-15' }],
    '2026-11-21T00:00',
    '2027-01-18T00:00',
  ],
])('in %s %j freezes from %s until %s', (zone, windows, from, end) => {
  const parts = { zone, windows };
  const fromMs = Date.parse(`${from}Z`);
  const endMs = Date.parse(`${end}Z`);
  expect(until(parts, fromMs - 1)).toBeUndefined();
  expect(until(parts, fromMs)).toBe(end);
  expect(until(parts, endMs - 1)).toBe(end);
  expect(until(parts, endMs)).toBeUndefined();
});

test('a window the clocks skip as a whole freezes nothing', () => {
  const parts = { zone: BERLIN, windows: [{ days: ['sun'], from: '02:10', until: '02:50' }] };
  const skippedMs = Date.parse('2026-03-29T01:00:00Z');
  for (const atMs of [skippedMs - 1, skippedMs, skippedMs + 1]) expect(until(parts, atMs)).toBeUndefined();
  expect(until(parts, Date.parse('2026-03-22T01:10:00Z'))).toBe('2026-03-22T01:50');
});

test.each<[object, string]>([
  [{}, 'without windows'],
  [{ windows: [{ from: '2026-11-20', until: '2026-11-22' }, { from: '2026-11-22' }] }, 'or runs into one'],
  [
    {
      windows: [{ days: ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'], from: '05:00', until: '05:00' }],
      zone: BERLIN,
    },
    'whenever its days begin',
  ],
])('%j lasts until it is lifted: %s', (parts) => {
  expect(until(parts, NOW_MS)).toBe('lifted');
});

test('what has not begun or is over freezes nothing', () => {
  expect(until({ windows: [{ from: '2026-11-22' }] }, NOW_MS)).toBeUndefined();
  expect(until({ windows: [{ from: '2026-11-01', until: '2026-11-20' }] }, NOW_MS)).toBeUndefined();
});
