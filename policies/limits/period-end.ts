import { DAY_MS, dayNumber, weekday } from './calendar.ts';

/** Days end up to twelve hours after UTC's, and clocks of zones move. */
const ZONES_MS = DAY_MS;
const CLOCK = /^(\d{4}-\d{2}-\d{2})T(\d{2})(?::(\d{2}))?Z$/;
const DAY = /^\d{4}-\d{2}-\d{2}$/;
const WEEK = /^(\d{4})-W(\d{2})$/;
/** A month, a quarter or a year, with the first day of its fiscal year where that is not 1 January. */
const MONTHS = /^(\d{4})(?:-(?:Q([1-4])|(\d{2})))?(?:@(\d{2})-(\d{2}))?$/;

/**
 * When the period of a key is over in every zone, Unix ms: at most a day too late. Infinity for what never starts anew
 * (`once`), what is counted at once (`now`) and what is no period's key.
 */
export function overEverywhereMs(key: string): number {
  const [, clockDay, hour, minute] = CLOCK.exec(key) ?? [];
  if (clockDay !== undefined) {
    // Minutes and hours are UTC's.
    const lengthMs = minute === undefined ? 3_600_000 : 60_000;
    return known(Date.parse(`${clockDay}T${hour}:${minute ?? '00'}:00Z`) + lengthMs);
  }
  if (DAY.test(key)) return known(Date.parse(`${key}T00:00:00Z`) + DAY_MS + ZONES_MS);
  const [, weekYear, week] = WEEK.exec(key) ?? [];
  if (weekYear !== undefined) return (firstMonday(Number(weekYear)) + 7 * Number(week)) * DAY_MS + ZONES_MS;
  const [, year, quarter, month, startMonth = '1', startDay = '1'] = MONTHS.exec(key) ?? [];
  if (year === undefined) return Number.POSITIVE_INFINITY;
  const day = Number(startDay);
  // Date.UTC carries months over year ends.
  if (month !== undefined) return Date.UTC(Number(year), Number(month), day) + ZONES_MS;
  const months = quarter === undefined ? 12 : 3 * Number(quarter);
  return Date.UTC(Number(year), Number(startMonth) - 1 + months, day) + ZONES_MS;
}

const known = (ms: number): number => (Number.isNaN(ms) ? Number.POSITIVE_INFINITY : ms);

/** The first Monday is that of week 1: the week with 4 January in it. */
function firstMonday(year: number): number {
  const fourth = dayNumber({ year, month: 1, day: 4 });
  return fourth - weekday(fourth);
}
