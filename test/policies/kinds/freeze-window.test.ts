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
const NEW_YORK = 'America/New_York';

test.each<[string, readonly object[], string, string, string]>([
  // Absolute windows.
  [
    'UTC',
    [{ from: '2026-12-24', until: '2026-12-26' }],
    '2026-12-24T00:00',
    '2026-12-27T00:00',
    'days are whole',
  ],
  [
    BERLIN,
    [{ from: '2026-12-24', until: '2026-12-24' }],
    '2026-12-23T23:00',
    '2026-12-24T23:00',
    'in the zone of the rule',
  ],
  [
    NEW_YORK,
    [{ from: '2026-11-01', until: '2026-11-01' }],
    '2026-11-01T04:00',
    '2026-11-02T05:00',
    'also one of 25 hours',
  ],
  [
    BERLIN,
    [{ from: '2026-03-29', until: '2026-03-29' }],
    '2026-03-28T23:00',
    '2026-03-29T22:00',
    'and one of 23',
  ],
  [
    BERLIN,
    [{ from: '2026-12-24T18:00Z', until: '2026-12-25T06:00+02:00' }],
    '2026-12-24T18:00',
    '2026-12-25T04:00',
    'an instant has its own offset',
  ],
  // Weekly windows. 21 November 2026 is a Saturday.
  [
    BERLIN,
    [{ days: ['sat', 'sun'] }],
    '2026-11-20T23:00',
    '2026-11-22T23:00',
    'without times days are whole, and touch',
  ],
  [
    BERLIN,
    [{ days: ['fri'], from: '18:00', until: '20:00' }],
    '2026-11-20T17:00',
    '2026-11-20T19:00',
    'times are those of the zone',
  ],
  [
    BERLIN,
    [{ days: ['fri'], from: '18:00', until: '06:00' }],
    '2026-11-20T17:00',
    '2026-11-21T05:00',
    'an end before the start is on the next day',
  ],
  [
    BERLIN,
    [{ days: ['sun'], from: '18:00', until: '06:00' }],
    '2026-11-22T17:00',
    '2026-11-23T05:00',
    'the next day may be in the next week',
  ],
  [
    'UTC',
    [{ days: ['fri'], from: '18:00', until: '18:00' }],
    '2026-11-20T18:00',
    '2026-11-21T18:00',
    'the same time is a day later',
  ],
  [
    'UTC',
    [{ days: ['fri'], from: '18:00' }],
    '2026-11-20T18:00',
    '2026-11-21T00:00',
    'without an end it lasts until midnight',
  ],
  ['UTC', [{ days: ['fri'], until: '24:00' }], '2026-11-20T00:00', '2026-11-21T00:00', 'which is 24:00'],
  ['UTC', [{ days: ['fri'], until: '00:00' }], '2026-11-20T00:00', '2026-11-21T00:00', 'or 00:00'],
  [
    'Pacific/Kiritimati',
    [{ days: ['sat'] }],
    '2026-11-20T10:00',
    '2026-11-21T10:00',
    'where the day begins first',
  ],
  [
    'Pacific/Pago_Pago',
    [{ days: ['fri'], from: '23:59', until: '23:58' }],
    '2026-11-21T10:59',
    '2026-11-22T10:58',
    'where it ends last',
  ],
  // Clocks are changed.
  [
    BERLIN,
    [{ days: ['sat'], from: '18:00', until: '06:00' }],
    '2026-03-28T17:00',
    '2026-03-29T04:00',
    'a night of 11 hours',
  ],
  [
    BERLIN,
    [{ days: ['sat'], from: '18:00', until: '06:00' }],
    '2026-10-24T16:00',
    '2026-10-25T05:00',
    'a night of 13 hours',
  ],
  [
    NEW_YORK,
    [{ days: ['sat'], from: '18:00', until: '06:00' }],
    '2026-03-07T23:00',
    '2026-03-08T10:00',
    'a night of 11 hours',
  ],
  [
    NEW_YORK,
    [{ days: ['sat'], from: '18:00', until: '06:00' }],
    '2026-10-31T22:00',
    '2026-11-01T11:00',
    'a night of 13 hours',
  ],
  [
    BERLIN,
    [{ days: ['sun'], from: '02:30', until: '04:00' }],
    '2026-03-29T01:00',
    '2026-03-29T02:00',
    'a start the clocks skip is when they skip it',
  ],
  [
    BERLIN,
    [{ days: ['sun'], from: '01:00', until: '02:30' }],
    '2026-03-29T00:00',
    '2026-03-29T01:00',
    'so is an end',
  ],
  [
    BERLIN,
    [{ days: ['sun'], from: '02:30', until: '04:00' }],
    '2026-10-25T00:30',
    '2026-10-25T03:00',
    'of a time shown twice the first starts',
  ],
  [
    BERLIN,
    [{ days: ['sun'], from: '01:00', until: '02:30' }],
    '2026-10-24T23:00',
    '2026-10-25T00:30',
    'and ends',
  ],
  [
    NEW_YORK,
    [{ days: ['sun'], from: '02:15', until: '03:15' }],
    '2026-03-08T07:00',
    '2026-03-08T07:15',
    'skipped in New York',
  ],
  [
    NEW_YORK,
    [{ days: ['sun'], from: '01:30', until: '02:00' }],
    '2026-11-01T05:30',
    '2026-11-01T07:00',
    'shown twice in New York',
  ],
  [
    'America/Sao_Paulo',
    [{ days: ['sun'] }],
    '2018-11-04T03:00',
    '2018-11-05T02:00',
    'a midnight that does not exist',
  ],
  [
    'Australia/Lord_Howe',
    [{ days: ['sun'], from: '02:15', until: '03:00' }],
    '2026-10-03T15:30',
    '2026-10-03T16:00',
    'half an hour that does not exist',
  ],
  // Windows that touch or overlap.
  [
    'UTC',
    [
      { from: '2026-12-24', until: '2026-12-25' },
      { from: '2026-12-26', until: '2026-12-26' },
    ],
    '2026-12-24T00:00',
    '2026-12-27T00:00',
    'windows that touch are one',
  ],
  [
    'UTC',
    [
      { from: '2026-12-25', until: '2026-12-28' },
      { from: '2026-12-24', until: '2026-12-26' },
    ],
    '2026-12-24T00:00',
    '2026-12-29T00:00',
    'windows that overlap are one, whatever their order',
  ],
  [
    'UTC',
    [
      { from: '2026-12-24', until: '2026-12-31' },
      { from: '2026-12-25', until: '2026-12-26' },
    ],
    '2026-12-24T00:00',
    '2027-01-01T00:00',
    'one within another ends nothing',
  ],
  [
    BERLIN,
    [
      { days: ['fri'], from: '18:00', until: '24:00' },
      { days: ['sat', 'sun'] },
      { days: ['mon'], until: '06:00' },
    ],
    '2026-11-20T17:00',
    '2026-11-23T05:00',
    'weekly windows, too',
  ],
  [
    'UTC',
    [{ days: ['sat', 'sun'] }, { from: '2026-11-23', until: '2026-11-27' }],
    '2026-11-21T00:00',
    '2026-11-30T00:00',
    'and both kinds together',
  ],
  [
    BERLIN,
    [
      { days: ['sun'], from: '02:45', until: '02:15' },
      { days: ['mon', 'tue', 'wed', 'thu', 'fri', 'sat'], from: '02:15', until: '02:15' },
    ],
    '2026-03-22T01:45',
    '2026-04-05T00:15',
    'a gap that the clocks skip is none',
  ],
  [
    'UTC',
    [{ days: ['sat', 'sun'] }, { from: '2026-11-23', until: '2027-01-15' }],
    '2026-11-21T00:00',
    '2027-01-18T00:00',
    'weekends around weeks that are frozen otherwise end all the same',
  ],
])('in %s %j freezes from %s until %s: %s', (zone, windows, from, end) => {
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
  [{ windows: [{ from: '2026-11-21' }] }, 'with a window that has no end'],
  [{ windows: [{ from: '2026-11-20', until: '2026-11-22' }, { from: '2026-11-22' }] }, 'or runs into one'],
  [{ windows: [{ days: ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'] }] }, 'with a week without a gap'],
  [
    {
      windows: [{ days: ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'], from: '05:00', until: '05:00' }],
      zone: BERLIN,
    },
    'whenever its days begin',
  ],
])('%j lasts until somebody lifts it: %s', (parts) => {
  expect(until(parts, NOW_MS)).toBe('lifted');
});

test('what has not begun or is over freezes nothing', () => {
  expect(until({ windows: [{ from: '2026-11-22' }] }, NOW_MS)).toBeUndefined();
  expect(until({ windows: [{ from: '2026-11-01', until: '2026-11-20' }] }, NOW_MS)).toBeUndefined();
});
