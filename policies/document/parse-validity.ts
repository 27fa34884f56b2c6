import type { Validity } from '../limits/validity.ts';
import { isZone } from '../limits/zone.ts';
import { readInstant } from './instant.ts';
import type { Reading } from './reading.ts';

export const VALIDITY_KEYS = ['from', 'until'] as const;

/** Reads `from` and `until`, each of which may be left out; days are meant whole, on the calendar of the zone. */
export function readValidity(reading: Reading, zone = 'UTC'): Validity {
  const fromMs = readOpenEdge(reading.at('from'), 'start', zone);
  const untilMs = readOpenEdge(reading.at('until'), 'end', zone);
  checkOrder(reading, fromMs, untilMs);
  return { ...(fromMs !== undefined && { fromMs }), ...(untilMs !== undefined && { untilMs }) };
}

/** One that has to be there. */
export function readEdge(reading: Reading, edge: 'start' | 'end', zone: string): number | undefined {
  const { value } = reading;
  const atMs = typeof value === 'string' ? readInstant(value, edge, zone) : undefined;
  return atMs ?? reading.expected('a day such as 2026-12-31 or an instant such as 2026-12-31T18:00+01:00');
}

/** The calendar that days are meant on; undefined, with a problem told, for what is no zone. */
export const readZone = (reading: Reading, ifAbsent = 'UTC'): string | undefined =>
  reading.at('zone').isThere
    ? reading.at('zone').text('a zone such as Europe/Berlin or UTC', isZone)
    : ifAbsent;

export function checkOrder(reading: Reading, fromMs: number | undefined, untilMs: number | undefined): void {
  if (fromMs !== undefined && untilMs !== undefined && untilMs <= fromMs)
    reading.at('until').expected('a later instant than from');
}

const readOpenEdge = (reading: Reading, edge: 'start' | 'end', zone: string): number | undefined =>
  reading.isThere ? readEdge(reading, edge, zone) : undefined;
