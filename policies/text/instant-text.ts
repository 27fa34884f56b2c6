import { monthName } from '../limits/calendar.ts';
import { clockIn } from '../limits/zone.ts';

/** An instant on the clock of a zone: `1 Dec 2026 00:00 Europe/Berlin`. */
export function instantText(atMs: number, zone: string): string {
  const { year, month, day, hour, minute } = clockIn(zone, atMs);
  return `${day} ${monthName(month).slice(0, 3)} ${year} ${two(hour)}:${two(minute)} ${zone}`;
}

const two = (number: number): string => String(number).padStart(2, '0');
