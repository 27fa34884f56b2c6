import type { Limit } from '../../../policies/limits/limit.ts';
import { isSpent } from '../../../policies/units/unit.ts';

/** A limit whose way to its end is told to its owner. Its `amount` is what is in force: base, carry-over and grants. */
export type WatchedLimit = Limit;

const THRESHOLDS_DEFAULT: readonly number[] = [50, 75, 90, 100];

/** One step on the way to the limit, or past it. */
export interface ThresholdLevel {
  /** `50 %`, `soft`, `overdraft`. */
  readonly name: string;
  /** The smallest amount that has reached it, whole units. */
  readonly amount: number;
}

/** What was spent is past the limit: told where the limit's `overdraft` says `alert`. */
export const OVERDRAFT = 'overdraft';

/**
 * The levels of a limit, lowest first. None where there is nobody to tell (off, shadow), nothing to reach (0, unlimited),
 * or no period worth a message (at once, minutes, hours). The soft part is a level of limits that are enforced; it counts
 * as higher than a percentage of the same amount, because the owner chose it. Past a limit of 0 something can be spent all
 * the same, by jobs that were not asked about.
 */
export function thresholdLevelsOf(limit: WatchedLimit): readonly ThresholdLevel[] {
  const { amount, mode, softAmount, overdraft } = limit;
  if (mode === 'off' || mode === 'shadow' || amount === 'unlimited') return [];
  if (!isTold(limit)) return [];
  const percents = amount === 0 ? [] : thresholdsOf(limit);
  const levels = percents.map((percent) => ({ name: `${percent} %`, amount: shareOf(amount, percent) }));
  if (softAmount !== undefined && mode === 'enforce') levels.push({ name: 'soft', amount: softAmount });
  if (overdraft === 'alert') levels.push({ name: OVERDRAFT, amount: amount + 1 });
  // Stable: percentages come first among equal amounts, in their own order.
  return levels
    .filter((level) => Number.isSafeInteger(level.amount))
    .sort((one, other) => one.amount - other.amount);
}

const isTold = ({ per }: Limit): boolean => per !== undefined && per !== 'minute' && per !== 'hour';

function thresholdsOf({ thresholds, kind }: WatchedLimit): readonly number[] {
  if (thresholds !== undefined) return [...thresholds].sort((a, b) => a - b);
  return isSpent(kind) ? THRESHOLDS_DEFAULT : [];
}

/** Exact, rounded up: one unit less has not reached the level. */
const shareOf = (amount: number, percent: number): number =>
  Number((BigInt(amount) * BigInt(percent) + 99n) / 100n);

/** The same of the forecast for the end of the period. */
export function forecastLevelsOf(limit: WatchedLimit): readonly ThresholdLevel[] {
  const { amount, mode, forecastThresholds = [] } = limit;
  if (mode === 'off' || mode === 'shadow' || amount === 'unlimited' || amount === 0) return [];
  return forecastThresholds.map((percent) => ({
    name: `forecast ${percent} %`,
    amount: shareOf(amount, percent),
  }));
}
