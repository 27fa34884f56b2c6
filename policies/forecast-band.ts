import { type History, type PastUse, pastUse } from './forecast.ts';
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
/** The days known must be this many times the days that a forecast goes ahead: those of neighbouring days are hardly two. */
const SPANS_MIN = 3;

interface BandBasis {
  /** Only what was known on the morning of this day counts. @default the day after the history */
  readonly morning?: number;
  readonly past?: PastUse;
}

/**
 * Returns the range of cumulated use over the coming days. It repeats the forecast for each past morning,
 * compares it with the real use, and takes those errors over the same number of days. The band never narrows
 * with time and its edges never fall. Returns undefined if the history is too short.
 *
 * @param ahead - expected use of each day from today on
 */
export function forecastBand(
  history: History,
  ahead: readonly number[],
  { morning = history.first + history.amounts.length, past = pastUse(history) }: BandBasis = {},
): readonly ForecastBand[] | undefined {
  const errors = pastErrors(history, ahead.length, morning, past);
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

/** Relative errors of past forecasts over one day, two days and so on, as far as enough are known. */
function pastErrors(
  { first, amounts }: History,
  daysMax: number,
  end: number,
  past: PastUse,
): readonly ForecastBand[] {
  const byDays: number[][] = Array.from({ length: daysMax }, () => []);
  for (let from = first; from < end; from += 1) {
    const use = past(from);
    if (use === undefined) continue;
    let expected = 0;
    let used = 0;
    for (let day = from; day < end && day - from < daysMax; day += 1) {
      expected += use(day);
      used += amounts[day - first] ?? 0;
      if (expected > 0) byDays[day - from]?.push(used / expected - 1);
    }
  }
  const few = byDays.findIndex(
    (errors, index) => errors.length < Math.max(FORECASTS_MIN, (SPANS_MIN - 1) * (index + 1)),
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

/** Days of a month after which its end is forecast. */
const FORECAST_AFTER = [7, 14, 21];

/** A past forecast for a month after some of its days, and the real result. */
interface PastForecast {
  readonly year: number;
  /** 1–12. */
  readonly month: number;
  readonly daysOver: number;
  readonly forecast: number;
  /** Absent: too little was known. */
  readonly band?: ForecastBand;
  readonly outcome: number;
}

export interface ForecastProof {
  readonly forecasts: readonly PastForecast[];
  readonly months: number;
  /** Mean error as a share of the month's real use. */
  readonly error: number;
  /** Share of the outcomes that the band held; absent: none had a band. */
  readonly inside?: number;
}

/** Forecasts every whole month of the history by what was known on its days. Undefined: there was none to forecast. */
export function proveForecasts(history: History): ForecastProof | undefined {
  const past = pastUse(history);
  const forecasts = wholeMonths(history).flatMap((month) => {
    const outcome = sumOf(history, month.first, month.next);
    if (outcome === 0) return [];
    return FORECAST_AFTER.flatMap((over) => pastForecast(history, month, { over, outcome, past }) ?? []);
  });
  if (forecasts.length === 0) return undefined;
  const banded = forecasts.flatMap(({ band, outcome }) => (band === undefined ? [] : [{ band, outcome }]));
  const held = banded.filter(({ band, outcome }) => outcome >= band.low && outcome <= band.high);
  return {
    forecasts,
    months: new Set(forecasts.map(({ year, month }) => year * 12 + month)).size,
    error:
      forecasts.reduce((sum, { forecast, outcome }) => sum + Math.abs(forecast - outcome) / outcome, 0) /
      forecasts.length,
    ...(banded.length > 0 && { inside: held.length / banded.length }),
  };
}

/** `dayNumber`s of its first day, and of the first after it. */
interface MonthSpan {
  readonly first: number;
  readonly next: number;
}

function pastForecast(
  history: History,
  { first, next }: MonthSpan,
  { over, outcome, past }: { readonly over: number; readonly outcome: number; readonly past: PastUse },
): PastForecast | undefined {
  const morning = first + over;
  const use = past(morning);
  if (use === undefined) return undefined;
  const ahead = Array.from({ length: next - morning }, (_, index) => use(morning + index));
  const used = sumOf(history, first, morning);
  const end = forecastBand(history, ahead, { morning, past })?.at(-1);
  const { year, month } = calendarDay(first);
  return {
    ...{ year, month, daysOver: over, outcome },
    forecast: ahead.reduce((sum, amount) => sum + amount, used),
    ...(end !== undefined && { band: { low: used + end.low, high: used + end.high } }),
  };
}

function wholeMonths({ first, amounts }: History): readonly MonthSpan[] {
  const end = first + amounts.length;
  const months: MonthSpan[] = [];
  const { year, month } = calendarDay(first);
  for (let index = 0; ; index += 1) {
    const from = dayNumber({ year, month: month + index, day: 1 });
    const next = dayNumber({ year, month: month + index + 1, day: 1 });
    if (next > end) return months;
    if (from >= first) months.push({ first: from, next });
  }
}

const sumOf = ({ first, amounts }: History, from: number, to: number): number =>
  amounts.slice(Math.max(0, from - first), Math.max(0, to - first)).reduce((sum, amount) => sum + amount, 0);
