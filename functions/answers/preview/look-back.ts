/** How many jobs of the last weeks an amount would have stopped. An estimate from days' totals; no record is read. Pure. */

import { DAY_MS, dayNumber } from '../../../policies/limits/calendar.ts';
import type { Limit } from '../../../policies/limits/limit.ts';
import { limitPeriod } from '../../../policies/limits/limits.ts';
import { dayIn } from '../../../policies/limits/zone.ts';
import { isForecastable } from '../../../policies/units/unit.ts';
import type { DayUsage } from '../reading/usage-days.ts';
import { usedOn } from '../standing/outlook.ts';
import type { LookBackEstimate } from './model.ts';

export const LOOK_BACK_DAYS = 30;
/** A year, and the days looked back on. */
const SPAN_MAX = 396;

/** The first day that has to be known: the start of the period in which the look back begins. */
export function lookBackFrom(limit: Limit, nowMs: number, today: number): number {
  const startMs = limitPeriod(limit, nowMs - LOOK_BACK_DAYS * DAY_MS)?.startMs ?? Number.NEGATIVE_INFINITY;
  const first = Number.isFinite(startMs) ? dayNumber(dayIn(limit.zone, startMs)) : 0;
  return Math.max(first, today - SPAN_MAX);
}

/**
 * Counts as stopped what came after the amount was reached, in every period that the last weeks touch; a day's jobs count
 * in the share of its use. Undefined: it is no budget of days, or nothing ran.
 */
export function lookBackOf(
  limit: Limit,
  amounts: { readonly before: number | 'unlimited'; readonly after: number | 'unlimited' },
  usage: readonly DayUsage[],
  nowMs: number,
  today: number,
): LookBackEstimate | undefined {
  const { kind, per } = limit;
  if (!isForecastable(kind) || per === undefined || per === 'minute' || per === 'hour') return undefined;
  const from = today - LOOK_BACK_DAYS + 1;
  const inWindow = usage.filter(({ number }) => number >= from && number <= today);
  const jobs = inWindow.reduce((sum, { admitted }) => sum + admitted, 0);
  if (jobs === 0) return undefined;
  const after = stopped(limit, amounts.after, usage, from, nowMs, today);
  const before = stopped(limit, amounts.before, usage, from, nowMs, today);
  return {
    days: LOOK_BACK_DAYS,
    jobs,
    jobsStopped: after.jobs,
    jobsStoppedBefore: before.jobs,
    ...(after.reachedOn !== undefined && { reachedOn: after.reachedOn }),
  };
}

function stopped(
  limit: Limit,
  amount: number | 'unlimited',
  usage: readonly DayUsage[],
  from: number,
  nowMs: number,
  today: number,
): { readonly jobs: number; readonly reachedOn?: string } {
  if (amount === 'unlimited') return { jobs: 0 };
  let period: string | undefined;
  let total = 0;
  let jobs = 0;
  let reachedOn: string | undefined;
  for (const day of usage) {
    // The same time of day: close enough for days' totals.
    const key = limitPeriod(limit, nowMs - (today - day.number) * DAY_MS)?.key;
    if (key !== period) total = 0;
    period = key;
    const used = usedOn(day, limit.kind);
    total += used;
    if (day.number < from || total <= amount || day.admitted === 0) continue;
    jobs +=
      used === 0 ? (amount === 0 ? day.admitted : 0) : day.admitted * Math.min(1, (total - amount) / used);
    reachedOn ??= day.day;
  }
  return { jobs: Math.round(jobs), ...(reachedOn !== undefined && { reachedOn }) };
}
