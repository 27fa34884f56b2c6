/** The chart of one limit: what came together day by day, and where it goes. Pure. */

import { dayIn, dayNumber } from '../../../policies/limits/calendar.ts';
import { isForecastable } from '../../../policies/units/unit.ts';
import type { DayUsage } from '../reading/usage-days.ts';
import type { LimitRow } from '../standing/model.ts';
import { aheadOf, usedOn } from '../standing/outlook.ts';
import type { BurnUpChart } from './model.ts';

/** A year and what is left of a day at each end. */
const CHART_DAYS_MAX = 368;

/** First and last day of a limit's period so far, in its own zone; undefined: it has no period that began. */
export function chartDays(
  { period, zone }: Pick<LimitRow, 'period' | 'zone'>,
  today: number,
): { readonly from: number; readonly to: number } | undefined {
  if (period === undefined) return undefined;
  const first = Number.isFinite(period.startMs)
    ? dayNumber(dayIn(zone, period.startMs))
    : today - CHART_DAYS_MAX + 1;
  return { from: Math.max(first, today - CHART_DAYS_MAX + 1), to: today };
}

/**
 * Undefined: it is not a budget of days, or not counted. What the counter has beyond the rollup's days is added to today, so that the end of the
 * line is what the next job meets.
 */
export function burnUpOf(
  row: LimitRow,
  usage: readonly DayUsage[],
  nowMs: number,
  today: number,
): BurnUpChart | undefined {
  const { kind, period, settled, held = 0, zone, amount, softAmount } = row;
  const span = chartDays(row, today);
  if (!isForecastable(kind) || period === undefined || span === undefined || isShort(row)) return undefined;
  if (settled === undefined) return undefined;
  const days: { day: string; used: number; total: number }[] = [];
  let total = 0;
  for (const day of usage) {
    if (day.number < span.from || day.number > span.to) continue;
    const used = usedOn(day, kind);
    total += used;
    days.push({ day: day.day, used, total });
  }
  const committed = settled + held;
  const last = days.at(-1);
  if (last !== undefined) last.total = committed;
  return {
    limit: row.id,
    unit: row.unit,
    period,
    ...(amount !== 'unlimited' && { amount }),
    ...(softAmount !== undefined && { softAmount }),
    days,
    ahead: aheadOf({ usage, kind, committed, nowMs, endMs: period.endMs, zone, tested: true }),
    unexplained: committed - total,
  };
}

const isShort = ({ per }: LimitRow): boolean => per === 'minute' || per === 'hour' || per === 'day';
