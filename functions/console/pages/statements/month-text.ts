import { dayIn, dayLabel, monthName } from '../../../../policies/limits/calendar.ts';

/** `2026-10` → `October 2026`. */
export function monthText(month: string): string {
  const [, year, number] = /^(\d{4})-(\d\d)$/.exec(month) ?? [];
  return year === undefined ? month : `${monthName(Number(number))} ${year}`;
}

/** `2026-10-05` → `5 October 2026`. */
export function dayOfText(day: string): string {
  const [, year, month, number] = /^(\d{4})-(\d\d)-(\d\d)$/.exec(day) ?? [];
  return year === undefined
    ? day
    : dayLabel({ year: Number(year), month: Number(month), day: Number(number) });
}

/** `6 November 2026`, on the calendar of the zone. */
export const dateText = (atMs: number, zone: string): string => dayLabel(dayIn(zone, atMs));
