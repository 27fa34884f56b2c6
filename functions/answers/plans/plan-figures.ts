/** What a limit used over a year, period by period, and what it will use from a day on. Pure. */

import { historyBefore } from '../../../policies/forecast/daily-usage.ts';
import { expectedUse } from '../../../policies/forecast/expected-use.ts';
import { calendarDay, dayNumber } from '../../../policies/limits/calendar.ts';
import type { Limit } from '../../../policies/limits/limit.ts';
import { limitPeriod } from '../../../policies/limits/limits.ts';
import { dayIn, dayStartMs } from '../../../policies/limits/zone.ts';
import { type DaySpan, type DayUsage, dayText } from '../reading/usage-days.ts';
import { dailyOf, historySpan, usedOn } from '../standing/outlook.ts';
import type { PlanRow } from './model.ts';

const YEAR_DAYS = 366;

/** First day of the year that is looked back on: the one before the plan's day, or before today where that is farther away. */
function yearBefore(from: number, today: number): number {
  const { year, month, day } = calendarDay(Math.min(from, today + YEAR_DAYS));
  return dayNumber({ year: year - 1, month, day });
}

/** The days that figures are made of. */
export const figureSpan = (from: number, today: number): DaySpan => ({
  from: Math.min(yearBefore(from, today), historySpan(today).from),
  to: today,
});

interface FigureTerms {
  /** `dayNumber`s. */
  readonly from: number;
  readonly today: number;
  readonly nowMs: number;
}

/** @param usage - of the limit's subject, over {@link figureSpan} */
export function planFigures(
  limit: Limit,
  usage: readonly DayUsage[],
  { from, today, nowMs }: FigureTerms,
): Pick<PlanRow, 'lastYear' | 'forecast'> {
  const { kind, zone } = limit;
  const used = new Map(usage.map((day) => [day.number, usedOn(day, kind)]));
  const sum = (first: number, next: number): number =>
    Array.from({ length: Math.max(0, next - first) }, (_, index) => used.get(first + index) ?? 0).reduce(
      (total, each) => total + each,
      0,
    );
  const startOf = (day: number): number => dayStartMs(zone, calendarDay(day));
  const periods: { first: number; next: number; used: number }[] = [];
  const endMs = Math.min(nowMs, startOf(from));
  let atMs = startOf(yearBefore(from, today));
  for (;;) {
    const period = limitPeriod(limit, atMs);
    if (period === undefined || !(period.endMs <= endMs)) break;
    const [first, next] = [dayNumber(dayIn(zone, period.startMs)), dayNumber(dayIn(zone, period.endMs))];
    const amount = sum(first, next);
    // Whoever began in June did not use nothing in May.
    if (period.startMs >= atMs && (periods.length > 0 || amount > 0))
      periods.push({ first, next, used: amount });
    atMs = period.endMs;
  }
  const [begin, end] = [periods[0], periods.at(-1)];
  const forecast = firstPeriod(limit, usage, { from, today, nowMs });
  return {
    ...(begin !== undefined &&
      end !== undefined && {
        lastYear: {
          fromDay: dayText(begin.first),
          toDay: dayText(end.next - 1),
          periods: periods.length,
          mean: Math.round(periods.reduce((total, each) => total + each.used, 0) / periods.length),
          most: Math.max(...periods.map((each) => each.used)),
        },
      }),
    ...(forecast !== undefined && { forecast }),
  };
}

/** Undefined: nothing was used in the last weeks. */
function firstPeriod(
  limit: Limit,
  usage: readonly DayUsage[],
  { from, today }: FigureTerms,
): number | undefined {
  const history = historyBefore(dailyOf(usage, limit.kind), today);
  const period = limitPeriod(limit, dayStartMs(limit.zone, calendarDay(from)));
  if (history === undefined || period === undefined) return undefined;
  const expected = expectedUse(history);
  const next = dayNumber(dayIn(limit.zone, period.endMs));
  let total = 0;
  for (let day = from; day < next; day += 1) total += expected(day);
  return Math.round(total);
}
