import type { History } from './daily-usage.ts';
import { type PastUse, pastUse } from './expected-use.ts';

/** Between which amounts four of five outcomes lie, if forecasts go on to be as far off as they were. Not whole. */
export interface ForecastBand {
  readonly low: number;
  readonly high: number;
}

/** A little more than four of five: past forecasts look at nearly the same days, and so seem less far off than they are. */
const LOW = 0.07;
const HIGH = 0.93;
const FORECASTS_MIN = 7;
/** The days known must be so many times as many as a forecast goes ahead: those of neighbouring days are hardly two. */
const SPANS_MIN = 3;

interface BandBasis {
  /** Only what was known on the morning of this day counts. @default the day after the history */
  readonly morning?: number;
  /** @default what the history gives */
  readonly past?: PastUse;
}

/**
 * The band of what comes together over the days to come. A forecast is made for each morning of the history by what was
 * known then, and compared with what followed; the band is as wide as those were off, over the same number of days. Where
 * too few are known that far, the share of the farthest stays. It never becomes narrower with time, and its edges never
 * fall. Undefined: there is too little history.
 * @param ahead - what each day is expected to use, from that morning on
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

/** How far off forecasts over one day, two days, three … were, as a share of them, as far as enough are known. */
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
    // What was forecast is inside, even if it was always more.
    return { low: Math.min(0, quantile(sorted, LOW)), high: Math.max(0, quantile(sorted, HIGH)) };
  });
}

function quantile(sorted: readonly number[], share: number): number {
  const at = share * (sorted.length - 1);
  const [below, above] = [sorted[Math.floor(at)] ?? 0, sorted[Math.ceil(at)] ?? 0];
  return below + (above - below) * (at - Math.floor(at));
}
