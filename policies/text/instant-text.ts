import { monthName } from '../calendar.ts';

/** One per zone in use: making a formatter takes thousands of times longer than using it. */
const formatters = new Map<string, Intl.DateTimeFormat>();

/** An instant on the clock of a zone: `1 Dec 2026 00:00 Europe/Berlin`. */
export function instantText(atMs: number, zone: string): string {
  const parts = new Map(
    formatterOf(zone)
      .formatToParts(atMs)
      .map(({ type, value }) => [type, value]),
  );
  const month = monthName(Number(parts.get('month'))).slice(0, 3);
  const day = `${Number(parts.get('day'))} ${month} ${parts.get('year')}`;
  return `${day} ${parts.get('hour')}:${parts.get('minute')} ${zone}`;
}

function formatterOf(zone: string): Intl.DateTimeFormat {
  const known = formatters.get(zone);
  if (known !== undefined) return known;
  const formatter = new Intl.DateTimeFormat('en-u-ca-gregory-nu-latn', {
    timeZone: zone,
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: '2-digit',
    minute: '2-digit',
    hourCycle: 'h23',
  });
  formatters.set(zone, formatter);
  return formatter;
}
