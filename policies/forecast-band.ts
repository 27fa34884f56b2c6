import { type History, rateOn } from './forecast.ts';
import { calendarDay, dayNumber } from './limits/calendar.ts';

/** Between which amounts four of five outcomes lie, if forecasts go on to be as far off as they were. Not whole. */
export interface ForecastBand {
  readonly low: number;
  readonly high: number;
}

/** A little more than four of five: past forecasts look at nearly the same days, and so seem less far off than they are. */
const LOW = 0.07;
const HIGH = 0.93;
const FORECASTS_MIN = 7;
/** Forecasts of neighbouring mornings are hardly two: as many more are needed as a forecast goes ahead. */
const FORECASTS_PER_DAY = 2;

/**
 * Returns the range of cumulated use over the coming days. It repeats the forecast for each past morning and takes those
 * errors over the same number of days. The band never narrows with time and its edges never fall. Returns undefined if
 * the history is too short.
 *
 * @param ahead - expected use of each day from today on
 * @param morning - only what was known on the morning of this day counts
 */
export function forecastBand(
  history: History,
  ahead: readonly number[],
  morning = history.first + history.amounts.length,
): readonly ForecastBand[] | undefined {
  const errors = pastErrors(history, ahead.length, morning);
  if (errors.length === 0) return undefined;
  let together = 0;
  let below = 0;
  let above = 0;
  return ahead.map((expected, index) => {
    together += expected;
    const { low, high } = errors[Math.min(index, errors.length - 1)] ?? { low: 0, high: 0 };
    below = Math.min(below + expected, Math.max(below, -low * together));
    above = Math.max(above, high * together);
    return { low: together - below, high: together + above };
  });
}

function pastErrors(history: History, daysMax: number, end: number): readonly ForecastBand[] {
  const { first, amounts } = history;
  const byDays: number[][] = Array.from({ length: daysMax }, () => []);
  for (let from = first; from < end; from += 1) {
    const perDay = rateOn(history, from);
    if (perDay === undefined) continue;
    let used = 0;
    for (let days = 1; days <= daysMax && from + days <= end; days += 1) {
      used += amounts[from + days - 1 - first] ?? 0;
      byDays[days - 1]?.push(used / (perDay * days) - 1);
    }
  }
  const few = byDays.findIndex(
    (errors, index) => errors.length < Math.max(FORECASTS_MIN, FORECASTS_PER_DAY * (index + 1)),
  );
  return (few < 0 ? byDays : byDays.slice(0, few)).map((errors) => {
    const sorted = errors.toSorted((a, b) => a - b);
    // Include the forecast itself, even if it was always too high.
    return { low: Math.min(0, quantile(sorted, LOW)), high: Math.max(0, quantile(sorted, HIGH)) };
  });
}

function quantile(sorted: readonly number[], share: number): number {
  const at = share * (sorted.length - 1);
  const [below, above] = [sorted[Math.floor(at)] ?? 0, sorted[Math.ceil(at)] ?? 0];
  return below + (above - below) * (at - Math.floor(at));
}

const FORECAST_AFTER = [7, 14, 21];

export type ForecastProof = NonNullable<ReturnType<typeof proveForecasts>>;

/** Forecasts every whole month of the history by what was known on its days. Undefined: there was none to forecast. */
export function proveForecasts(history: History) {
  const forecasts = wholeMonths(history).flatMap(({ first, next }) => {
    const outcome = sumOf(history, first, next);
    if (outcome === 0) return [];
    const { year, month } = calendarDay(first);
    return FORECAST_AFTER.flatMap((daysOver) => {
      const morning = first + daysOver;
      const perDay = rateOn(history, morning);
      if (perDay === undefined) return [];
      const used = sumOf(history, first, morning);
      const ahead = Array.from({ length: next - morning }, () => perDay);
      const end = forecastBand(history, ahead, morning)?.at(-1);
      const band = end && { low: used + end.low, high: used + end.high };
      return [{ year, month, daysOver, outcome, forecast: used + perDay * ahead.length, band }];
    });
  });
  if (forecasts.length === 0) return undefined;
  const errors = forecasts.map(({ forecast, outcome }) => Math.abs(forecast - outcome) / outcome);
  const banded = forecasts.flatMap(({ band, outcome }) =>
    band === undefined ? [] : [outcome >= band.low && outcome <= band.high],
  );
  return {
    forecasts,
    months: new Set(forecasts.map(({ year, month }) => year * 12 + month)).size,
    error: errors.reduce((sum, error) => sum + error, 0) / errors.length,
    inside: banded.length === 0 ? undefined : banded.filter(Boolean).length / banded.length,
  };
}

function wholeMonths({
  first,
  amounts,
}: History): readonly { readonly first: number; readonly next: number }[] {
  const end = first + amounts.length;
  const { year, month } = calendarDay(first);
  const startOf = (index: number): number => dayNumber({ year, month: month + index, day: 1 });
  return Array.from({ length: Math.ceil(amounts.length / 28) + 1 }, (_, index) => ({
    first: startOf(index),
    next: startOf(index + 1),
  })).filter((span) => span.first >= first && span.next <= end);
}

const sumOf = ({ first, amounts }: History, from: number, to: number): number =>
  amounts.slice(Math.max(0, from - first), Math.max(0, to - first)).reduce((sum, amount) => sum + amount, 0);
