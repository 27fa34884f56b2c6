import { expect, test } from 'vitest';
import { readInstant } from '../../../policies/document/values.ts';

const at = (text: string, edge: 'start' | 'end', zone?: string): string | undefined => {
  const ms = readInstant(text, edge, zone);
  return ms === undefined ? undefined : new Date(ms).toISOString();
};

test.each<[string, 'start' | 'end', string | undefined, string]>([
  ['2026-12-31', 'start', undefined, '2026-12-31T00:00:00.000Z'],
  ['2026-12-31', 'end', undefined, '2027-01-01T00:00:00.000Z'],
  ['2026-12-31', 'end', 'Europe/Berlin', '2026-12-31T23:00:00.000Z'],
  ['2028-02-29', 'end', undefined, '2028-03-01T00:00:00.000Z'],
  ['2026-12-31T18:00Z', 'end', undefined, '2026-12-31T18:00:00.000Z'],
  ['2026-12-31T18:00:30+01:00', 'start', undefined, '2026-12-31T17:00:30.000Z'],
  ['2026-12-31T18:00-05:30', 'start', 'Europe/Berlin', '2026-12-31T23:30:00.000Z'],
  ['2026-03-01T00:30+01:00', 'start', undefined, '2026-02-28T23:30:00.000Z'],
])('%s as %s in %s is %s', (text, edge, zone, instant) => {
  expect(at(text, edge, zone)).toBe(instant);
});

test.each([
  '2026-02-30',
  '2027-02-29',
  '2026-13-01',
  '2026-00-10',
  '2026-1-1',
  '2026-12-31T18:00',
  '2026-12-31T24:00Z',
  '2026-12-31T18:60Z',
  '2026-12-31T18:00+15:00',
  '2026-12-31T18:00+01:60',
  ' 2026-12-31',
  '31.12.2026',
  'tomorrow',
  '',
])('%j is no instant', (text) => {
  expect(readInstant(text, 'start')).toBeUndefined();
});
