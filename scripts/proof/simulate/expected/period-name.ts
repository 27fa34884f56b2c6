/** The period of a limit at an instant, by the calendar of the limit's zone. */
import type { WrittenLimit } from './edition.ts';

const DAY_MS = 86_400_000;
/** Clocks of all zones change, and days begin, at quarters of an hour. */
const QUARTER_MS = 900_000;

/** `now`, `2026-11-21T14Z` (hours are UTC's), `2026-11-21`, `2026-W47`, `2026-11`, `2026`, `2026@11-17`. */
export function periodName({ per, zone, fiscalStart }: WrittenLimit, atMs: number): string {
  if (per === undefined) return 'now';
  switch (per) {
    case 'hour':
      return `${new Date(atMs).toISOString().slice(0, 13)}Z`;
    case 'day':
      return dayNameIn(zone, atMs);
    case 'week':
      return weekOf(dayNameIn(zone, atMs));
    case 'month':
      return dayNameIn(zone, atMs).slice(0, 7);
    case 'year':
      return yearOf(dayNameIn(zone, atMs), fiscalStart);
  }
}

/** Named by the calendar year it begins in. */
function yearOf(day: string, fiscalStart: string | undefined): string {
  const year = Number(day.slice(0, 4));
  if (fiscalStart === undefined) return String(year);
  return `${day.slice(5) >= fiscalStart ? year : year - 1}@${fiscalStart}`;
}

/** ISO 8601: from Monday, and of the year that its Thursday is in. */
function weekOf(day: string): string {
  const atMs = Date.parse(`${day}T00:00:00Z`);
  const afterMonday = (new Date(atMs).getUTCDay() + 6) % 7;
  const thursday = new Date(atMs + (3 - afterMonday) * DAY_MS);
  const year = thursday.getUTCFullYear();
  const week = 1 + Math.floor((thursday.getTime() - Date.UTC(year, 0, 1)) / (7 * DAY_MS));
  return `${year}-W${String(week).padStart(2, '0')}`;
}

const formats = new Map<string, Intl.DateTimeFormat>();
/** Keyed by zone and quarter of an hour: a month has some thousands. */
const days = new Map<string, Map<number, string>>();

/** `2026-11-21` */
export function dayNameIn(zone: string, atMs: number): string {
  const quarter = Math.floor(atMs / QUARTER_MS);
  let known = days.get(zone);
  if (known === undefined) {
    known = new Map();
    days.set(zone, known);
  }
  let day = known.get(quarter);
  if (day === undefined) {
    day = formatOf(zone).format(quarter * QUARTER_MS);
    known.set(quarter, day);
  }
  return day;
}

function formatOf(zone: string): Intl.DateTimeFormat {
  let format = formats.get(zone);
  if (format === undefined) {
    // Canada writes days as ISO 8601 does.
    format = new Intl.DateTimeFormat('en-CA', {
      timeZone: zone,
      year: 'numeric',
      month: '2-digit',
      day: '2-digit',
    });
    formats.set(zone, format);
  }
  return format;
}
