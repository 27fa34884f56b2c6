import {
  type CalendarDay,
  calendarDay,
  clockIn,
  dayIn,
  dayNumber,
  dayStartMs,
  isoDay,
  monthName,
  two,
} from '../limits/calendar.ts';

export type Edge = 'start' | 'end';

export function edgeText(atMs: number, edge: Edge, zone: string): string {
  const day = wholeDay(atMs, edge, zone);
  if (day === undefined) return instantText(atMs, zone);
  const text = `${day.day} ${monthName(day.month).slice(0, 3)} ${day.year} ${zone}`;
  return edge === 'start' ? text : `the end of ${text}`;
}

/** As forms and files have it: `2026-12-31`, or `2026-12-31T18:00+01:00` where no day begins or ends. */
export function writtenEdge(atMs: number, edge: Edge, zone: string): string {
  const whole = wholeDay(atMs, edge, zone);
  if (whole !== undefined) return isoDay(whole);
  const clock = clockIn(zone, atMs);
  const { year, month, day, hour, minute } = clock;
  const offsetMinutes = Math.round((Date.UTC(year, month - 1, day, hour, minute) - atMs) / 60_000);
  const seconds = Math.floor(atMs / 1000) % 60;
  const ahead = Math.abs(offsetMinutes);
  const offset =
    offsetMinutes === 0
      ? 'Z'
      : `${offsetMinutes < 0 ? '-' : '+'}${two(Math.floor(ahead / 60))}:${two(ahead % 60)}`;
  return `${isoDay(clock)}T${two(hour)}:${two(minute)}${seconds === 0 ? '' : `:${two(seconds)}`}${offset}`;
}

export const writtenDay = (atMs: number, zone: string): string => isoDay(dayIn(zone, atMs));

function wholeDay(atMs: number, edge: Edge, zone: string): CalendarDay | undefined {
  const day = dayIn(zone, atMs);
  if (dayStartMs(zone, day) !== atMs) return undefined;
  return edge === 'start' ? day : calendarDay(dayNumber(day) - 1);
}

export function instantText(atMs: number, zone: string): string {
  const { year, month, day, hour, minute } = clockIn(zone, atMs);
  return `${day} ${monthName(month).slice(0, 3)} ${year} ${two(hour)}:${two(minute)} ${zone}`;
}

export const untilText = (atMs: number, zone: string, nowMs: number): string =>
  `${instantText(atMs, zone)} (${relativeText(nowMs, atMs)})`;

export function relativeText(fromMs: number, toMs: number): string {
  const minutes = Math.max(0, Math.ceil((toMs - fromMs) / 60_000));
  if (minutes < 1) return 'now';
  if (minutes < 120) return `in ${counted(minutes, 'minute')}`;
  if (minutes < 48 * 60) return `in ${counted(Math.round(minutes / 60), 'hour')}`;
  return `in ${counted(Math.round(minutes / 1_440), 'day')}`;
}

const counted = (count: number, unit: string): string => `${count} ${unit}${count === 1 ? '' : 's'}`;
