import { calendarDay, dayNumber } from '../limits/calendar.ts';
import type { History } from './daily-usage.ts';
import { type PastUse, pastUse } from './expected-use.ts';
import { type ForecastBand, forecastBand } from './forecast-band.ts';

/** Days of a month after which its end is forecast. */
const FORECAST_AFTER = [7, 14, 21];

/** What was forecast for the end of a month when so many of its days were over, and what it came to. */
interface PastForecast {
  readonly year: number;
  /** 1–12. */
  readonly month: number;
  /** How many days of the month were over. */
  readonly daysOver: number;
  readonly forecast: number;
  /** Absent: too little was known. */
  readonly band?: ForecastBand;
  readonly outcome: number;
}

/** How well forecasts would have done. */
export interface ForecastProof {
  /** The oldest first. */
  readonly forecasts: readonly PastForecast[];
  readonly months: number;
  /** Mean of how far they were off, as a share of what the month came to. */
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

/** Months of which every day is in the history. */
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
