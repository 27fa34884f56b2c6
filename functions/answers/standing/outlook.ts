/** What days to come will use, if every day is like its weekday in the last weeks. Pure. */
import { type DailyUsage, HISTORY_DAYS, historyBefore } from '../../../policies/forecast/daily-usage.ts';
import { runOut } from '../../../policies/forecast/run-out.ts';
import { weekdayProfile } from '../../../policies/forecast/weekday-profile.ts';
import { calendarDay, dayNumber, weekday } from '../../../policies/limits/calendar.ts';
import type { Limit } from '../../../policies/limits/limit.ts';
import { dayIn, dayStartMs } from '../../../policies/limits/zone.ts';
import { kindRow, type LimitKind, type UsageCounts } from '../../../policies/units/unit.ts';
import { type DaySpan, type DayUsage, dayText } from '../reading/usage-days.ts';
import type { DayTotal, ForecastRow } from './model.ts';

/** The longest period is a year. */
const DAYS_MAX = 367;

interface OutlookQuestion {
  readonly usage: readonly DayUsage[];
  readonly kind: LimitKind;
  /** Settled + held. */
  readonly committed: number;
  /** Absent: unlimited. */
  readonly left?: number;
  readonly nowMs: number;
  readonly endMs: number;
  readonly zone: string;
}

/** The days a forecast looks back on. */
export const historySpan = (today: number): DaySpan => ({ from: today - HISTORY_DAYS, to: today });

/** A day's use in the unit of a limit; what is counted at once is not used up. */
export const usedOn = (day: UsageCounts, kind: LimitKind): number => kindRow(kind).usedOn?.(day) ?? 0;

/** Whether an amount is used up day by day. What is counted at once, or anew every minute or hour, comes and goes. */
export const canRunOut = ({ amount, kind, per }: Pick<Limit, 'amount' | 'kind' | 'per'>): boolean =>
  amount !== 'unlimited' &&
  per !== undefined &&
  per !== 'minute' &&
  per !== 'hour' &&
  kindRow(kind).usedOn !== undefined;

const dailyOf = (usage: readonly DayUsage[], kind: LimitKind): readonly DailyUsage[] =>
  usage.flatMap((day) => {
    const amount = usedOn(day, kind);
    return amount === 0 ? [] : [{ day: calendarDay(day.number), amount }];
  });

/** Undefined: no amount, or nothing was used in the last weeks. */
export function forecastOf(question: OutlookQuestion): ForecastRow | undefined {
  const { usage, kind, left, nowMs, endMs, zone } = question;
  if (left !== undefined && left <= 0) return { outcome: 'used_up' };
  if (left === undefined) return undefined;
  const forecast = runOut({ usage: dailyOf(usage, kind), left, nowMs, untilMs: endMs, zone });
  if (forecast === undefined) return undefined;
  const atEndAmount = Number.isFinite(endMs) ? aheadOf(question).at(-1)?.total : undefined;
  return { ...forecast, ...(atEndAmount !== undefined && { atEndAmount }) };
}

/** The way to the end of the period: today's total at its end, then day by day. Empty: nothing is known. */
export function aheadOf(question: Omit<OutlookQuestion, 'left'>): readonly DayTotal[] {
  const { usage, kind, committed, nowMs, endMs, zone } = question;
  const first = dayNumber(dayIn(zone, nowMs));
  const history = historyBefore(dailyOf(usage, kind), first);
  if (history === undefined || !Number.isFinite(endMs)) return [];
  const profile = weekdayProfile(history);
  const days: DayTotal[] = [];
  let total = committed;
  let startMs = startOf(zone, first);
  for (let day = first; day < first + DAYS_MAX && startMs < endMs; day += 1) {
    const nextMs = startOf(zone, day + 1);
    const left = (nextMs - Math.max(startMs, nowMs)) / (nextMs - startMs);
    total += (profile[weekday(day)] ?? 0) * left;
    days.push({ day: dayText(day), total: Math.round(total) });
    startMs = nextMs;
  }
  return days;
}

const startOf = (zone: string, day: number): number => dayStartMs(zone, calendarDay(day));
