import { expect, test } from 'vitest';
import { readInstant } from '../../../policies/document/values.ts';
import { edgeText, writtenDay, writtenEdge } from '../../../policies/text/edge-text.ts';

const BERLIN = 'Europe/Berlin';

test.each([
  ['2026-12-31', 'end', BERLIN, 'the end of 31 Dec 2026 Europe/Berlin'],
  ['2026-12-01', 'start', BERLIN, '1 Dec 2026 Europe/Berlin'],
  ['2027-03-28', 'end', BERLIN, 'the end of 28 Mar 2027 Europe/Berlin'],
  ['2027-10-31', 'end', BERLIN, 'the end of 31 Oct 2027 Europe/Berlin'],
  // The clocks of Beirut skip midnight: the day begins at one.
  ['2026-03-28', 'end', 'Asia/Beirut', 'the end of 28 Mar 2026 Asia/Beirut'],
  ['2026-12-31T17:00Z', 'end', BERLIN, '31 Dec 2026 18:00 Europe/Berlin'],
] as const)('%s as the %s in %s reads %s, and is written back as it was', (written, edge, zone, text) => {
  const atMs = readInstant(written, edge, zone) ?? Number.NaN;
  expect(edgeText(atMs, edge, zone)).toBe(text);
  expect(readInstant(writtenEdge(atMs, edge, zone), edge, zone)).toBe(atMs);
});

test('an instant in the middle of a day is written with the offset of its zone', () => {
  const atMs = Date.UTC(2026, 11, 31, 17);
  expect(writtenEdge(atMs, 'end', BERLIN)).toBe('2026-12-31T18:00+01:00');
  expect(writtenEdge(atMs, 'end', 'America/St_Johns')).toBe('2026-12-31T13:30-03:30');
});

test('today is the day of the zone', () => {
  const atMs = Date.UTC(2026, 11, 31, 23, 30);
  expect([writtenDay(atMs, BERLIN), writtenDay(atMs, 'UTC')]).toEqual(['2027-01-01', '2026-12-31']);
});
