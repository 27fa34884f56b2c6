import { dayOfIso } from './calendar.ts';
import type { Grant } from './grant.ts';
import type { Limit } from './limit.ts';
import { dayStartMs } from './zone.ts';

const DAY_AT_END = /-(\d{4}-\d{2}-\d{2})$/;

/**
 * Returns the name that limits share if one takes over from the other: `money-month` of `money-month`, and of
 * `money-month-2027-01-01` if that one begins on the day in its id.
 */
export function lineOf({ id, fromMs, zone }: Pick<Limit, 'id' | 'fromMs' | 'zone'>): string {
  const day = DAY_AT_END.exec(id)?.[1];
  return day !== undefined && fromMs === dayStartMs(zone, dayOfIso(day)) ? withoutDay(id) : id;
}

/** `money-month` of `money-month-2027-01-01`, without a look at when it begins. */
export const withoutDay = (id: string): string => id.replace(DAY_AT_END, '');

/** Grants on the limits that this one takes over from, which go on after that day. */
export function earlierGrants(limit: Limit, onSubject: readonly Limit[]): readonly Grant[] {
  const { fromMs } = limit;
  if (fromMs === undefined) return [];
  const line = lineOf(limit);
  return onSubject
    .filter((each) => (each.untilMs ?? Number.POSITIVE_INFINITY) <= fromMs && lineOf(each) === line)
    .flatMap(({ grants = [] }) => grants.filter(({ untilMs }) => untilMs > fromMs));
}
