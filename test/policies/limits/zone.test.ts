import fc from 'fast-check';
import { expect, test } from 'vitest';
import { clockIn, knowZones, zoneTable } from '../../../policies/limits/calendar.ts';

/** Half an hour of summer time; none; the date line; one that ends summer time for a month; a zone of half an hour. */
const ZONES = [
  'UTC',
  'Europe/Berlin',
  'Australia/Lord_Howe',
  'Asia/Kathmandu',
  'Pacific/Apia',
  'Africa/Casablanca',
  'America/St_Johns',
];
const MINUTE_MS = 60_000;

test('a table shows the clocks that the runtime shows, at every change and beyond its years', () => {
  const tables = Object.fromEntries(ZONES.map((zone) => [zone, zoneTable(zone)]));
  const years = { min: Date.UTC(2015, 0, 1), max: Date.UTC(2045, 0, 1) };
  const anywhere = fc.sample(fc.integer(years), { numRuns: 200, seed: 7 });
  const asked = ZONES.flatMap((zone) => {
    const table = tables[zone];
    if (table === undefined) return [];
    const edges = [table.untilMs, ...table.ahead.map(([fromMs]) => fromMs)];
    const around = edges.flatMap((atMs) => [atMs - MINUTE_MS, atMs - 1, atMs, atMs + MINUTE_MS]);
    return [...anywhere, ...around].map((atMs) => ({ zone, atMs }));
  });
  const lookedUp = asked.map(({ zone, atMs }) => clockIn(zone, atMs));
  knowZones(tables);
  expect(asked.map(({ zone, atMs }) => clockIn(zone, atMs))).toEqual(lookedUp);
  expect(tables['Europe/Berlin']?.ahead.length).toBe(2 * 20 + 1);
});
