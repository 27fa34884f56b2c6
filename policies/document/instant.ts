import { calendarDay, DAY_MS, dayNumber } from '../limits/calendar.ts';
import { dayStartMs } from '../limits/zone.ts';

const DAY = /^(\d{4})-(\d{2})-(\d{2})$/;
const INSTANT = /^(\d{4}-\d{2}-\d{2})T(\d{2}):(\d{2})(?::(\d{2}))?(Z|[+-]\d{2}:\d{2})$/;

/**
 * Reads a day (`2026-12-31`) or an instant with its offset (`2026-12-31T18:00Z`, `…+01:00`) as Unix ms. A day is meant
 * whole: its first instant as a `start`, the first instant after it as an `end`, on the calendar of the zone.
 */
export function readInstant(text: string, edge: 'start' | 'end', zone = 'UTC'): number | undefined {
  const day = DAY.exec(text);
  if (day !== null) {
    const number = dayNumberOf(day);
    return number === undefined
      ? undefined
      : dayStartMs(zone, calendarDay(edge === 'start' ? number : number + 1));
  }
  const instant = INSTANT.exec(text);
  const date = instant && DAY.exec(instant[1] ?? '');
  const number = date && dayNumberOf(date);
  if (!instant || number === undefined || number === null) return undefined;
  const [, , hour = '', minute = '', second = '0', offset = ''] = instant;
  if (Number(hour) > 23 || Number(minute) > 59 || Number(second) > 59) return undefined;
  const offsetMinutes = minutesOf(offset);
  if (offsetMinutes === undefined) return undefined;
  const seconds = Number(hour) * 3600 + (Number(minute) - offsetMinutes) * 60 + Number(second);
  return number * DAY_MS + seconds * 1000;
}

/** Undefined for a day no calendar has. */
function dayNumberOf([, year, month, day]: RegExpExecArray): number | undefined {
  const written = { year: Number(year), month: Number(month), day: Number(day) };
  const number = dayNumber(written);
  const real = calendarDay(number);
  return real.month === written.month && real.day === written.day ? number : undefined;
}

function minutesOf(offset: string): number | undefined {
  if (offset === 'Z') return 0;
  const hours = Number(offset.slice(1, 3));
  const minutes = Number(offset.slice(4, 6));
  if (hours > 14 || minutes > 59) return undefined;
  return (offset.startsWith('-') ? -1 : 1) * (hours * 60 + minutes);
}
