import { type PriceList, type RunnerClass, usualMicrosPerMinute } from './price.ts';

/** A comma in the wrong place is a factor of ten; prices that really change stay well below half of it. */
export const PRICE_JUMP_FACTOR = 5;

/** A rate that is more than so many times another one. Free to priced and back is always one. */
export interface PriceJump {
  readonly runnerClass: string;
  /** `rate_per_minute` is what a usual job of the class pays, with its CPU and memory. */
  readonly rate: 'rate_per_minute' | 'rate_per_cpu_hour' | 'rate_per_gib_hour';
  /** Micro-units. */
  readonly fromMicros: number;
  readonly toMicros: number;
}

/**
 * The rates that changed more than `factor` times, up or down, between two lists of prices: most likely a typing
 * error, and to be confirmed by whoever means it. Classes that only one list has are no change.
 */
export function priceJumps(
  from: PriceList,
  to: PriceList,
  factor: number = PRICE_JUMP_FACTOR,
): readonly PriceJump[] {
  const before = new Map(from.classes.map((each) => [each.name, each]));
  return to.classes.flatMap((after) => {
    const earlier = before.get(after.name);
    return earlier === undefined ? [] : classJumps(earlier, after, factor);
  });
}

function classJumps(from: RunnerClass, to: RunnerClass, factor: number): readonly PriceJump[] {
  const rates = [
    ['rate_per_minute', usualMicrosPerMinute(from), usualMicrosPerMinute(to)],
    ['rate_per_cpu_hour', from.microsPerCpuHour, to.microsPerCpuHour],
    ['rate_per_gib_hour', from.microsPerGibHour, to.microsPerGibHour],
  ] as const;
  return rates.flatMap(([rate, fromMicros, toMicros]) =>
    fromMicros !== undefined && toMicros !== undefined && jumped(fromMicros, toMicros, factor)
      ? [{ runnerClass: to.name, rate, fromMicros, toMicros }]
      : [],
  );
}

const jumped = (from: number, to: number, factor: number): boolean =>
  Math.max(from, to) > factor * Math.min(from, to);
