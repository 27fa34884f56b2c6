/** Expected use of coming days. Pure. */
import {
  type DailyUsage,
  dailyRate,
  forecastBand,
  HISTORY_DAYS,
  historyBefore,
  proveForecasts,
  runOut,
  TESTED_DAYS,
} from '../../../policies/forecast.ts';
import { calendarDay, dayIn, dayNumber, dayStartMs } from '../../../policies/limits/calendar.ts';
import type { Limit } from '../../../policies/limits/limit.ts';
import { isMoney, kindRow, type LimitKind, type UsageCounts } from '../../../policies/unit.ts';
import { withoutAbsent } from '../../../policies/without-absent.ts';
import type { BurnUpChart } from '../groups/model.ts';
import { type DaySpan, type DayUsage, dayText } from '../reading/usage-days.ts';
import type { ForecastRow } from './model.ts';

/** The longest period is a year. */
const DAYS_MAX = 367;

interface ForecastInput {
  readonly usage: readonly DayUsage[];
  readonly kind: LimitKind;
  readonly committed: number;
  readonly left?: number;
  readonly nowMs: number;
  readonly endMs: number;
  readonly zone: string;
  /** Adds the range and past errors; the usage must then begin at {@link testedSpan}. */
  readonly tested?: boolean | undefined;
}

export const historySpan = (today: number): DaySpan => ({ from: today - HISTORY_DAYS, to: today });

export const testedSpan = (today: number): DaySpan => ({ from: today - TESTED_DAYS, to: today });

/** A day's use in the limit's unit; 0 for jobs in flight. */
export const usedOn = (day: UsageCounts, kind: LimitKind): number => kindRow(kind).usedOn?.(day) ?? 0;

/** Returns true if an amount is used up over days. Jobs in flight and counts per minute or hour are not. */
export const canRunOut = ({ amount, kind, per }: Pick<Limit, 'amount' | 'kind' | 'per'>): boolean =>
  amount !== 'unlimited' &&
  per !== undefined &&
  per !== 'minute' &&
  per !== 'hour' &&
  kindRow(kind).usedOn !== undefined;

/** Days with use. Late corrections may have taken a day below zero. */
export const dailyOf = (usage: readonly DayUsage[], kind: LimitKind): readonly DailyUsage[] =>
  usage.flatMap((day) => {
    const amount = usedOn(day, kind);
    return amount > 0 ? [{ day: calendarDay(day.number), amount }] : [];
  });

/** Returns undefined without an amount, or without use in the last weeks. */
export function forecastOf(input: ForecastInput): ForecastRow | undefined {
  const { usage, kind, left, nowMs, endMs, zone } = input;
  if (left === undefined) return undefined;
  const tested = input.tested === true ? testedOf(input) : undefined;
  if (left <= 0) return { outcome: 'used_up', ...(tested !== undefined && { tested }) };
  const forecast = runOut({ usage: dailyOf(usage, kind), left, nowMs, untilMs: endMs, zone });
  if (forecast === undefined) return undefined;
  const { total: atEndAmount, low: atEndLow, high: atEndHigh } = aheadOf(input).at(-1) ?? {};
  return { ...forecast, ...withoutAbsent({ atEndAmount, atEndLow, atEndHigh, tested }) };
}

/** Forecasts each day's total to the end of the period, today included. Empty: unknown, or it has no end. */
export function aheadOf(input: Omit<ForecastInput, 'left'>): BurnUpChart['ahead'] {
  const { usage, kind, committed, nowMs, endMs, zone, tested } = input;
  const first = dayNumber(dayIn(zone, nowMs));
  const daily = dailyOf(usage, kind);
  const history = historyBefore(daily, first);
  if (history === undefined || !Number.isFinite(endMs)) return [];
  const perDay = dailyRate(history);
  const ahead: number[] = [];
  let startMs = startOf(zone, first);
  for (let day = first; day < first + DAYS_MAX && startMs < endMs; day += 1) {
    const nextMs = startOf(zone, day + 1);
    const left = (nextMs - Math.max(startMs, nowMs)) / (nextMs - startMs);
    ahead.push(perDay * left);
    startMs = nextMs;
  }
  const known = tested === true ? historyBefore(daily, first, TESTED_DAYS) : undefined;
  const band = known && forecastBand(known, ahead);
  let total = committed;
  return ahead.map((amount, index) => {
    total += amount;
    const { low, high } = band?.[index] ?? {};
    return {
      day: dayText(first + index),
      total: estimated(total, kind),
      ...(low !== undefined && { low: estimated(committed + low, kind) }),
      ...(high !== undefined && { high: estimated(committed + high, kind) }),
    };
  });
}

function testedOf({ usage, kind, nowMs, zone }: ForecastInput): ForecastRow['tested'] {
  const known = historyBefore(dailyOf(usage, kind), dayNumber(dayIn(zone, nowMs)), TESTED_DAYS);
  const proof = known && proveForecasts(known);
  if (proof === undefined) return undefined;
  return { months: proof.months, errorPercent: Math.round(proof.error * 1_000) / 10 };
}

const CENT_MICROS = 10_000;

/** An estimate has no fractions of a cent. Below a cent it keeps them, because 0.00 would say that nothing is used. */
const estimated = (amount: number, kind: LimitKind): number =>
  isMoney(kind) && Math.abs(amount) >= CENT_MICROS
    ? Math.round(amount / CENT_MICROS) * CENT_MICROS
    : Math.round(amount);

const startOf = (zone: string, day: number): number => dayStartMs(zone, calendarDay(day));
