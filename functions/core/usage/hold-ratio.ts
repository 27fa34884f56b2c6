/**
 * Accuracy of holds: actual ÷ estimated duration, counted in buckets, because buckets add up and quantiles
 * do not.
 */
import type { UsageTally } from './tally.ts';

/** Upper bounds, per cent. What is above the last counts in a bucket of its own. Never reorder: the index is the name. */
const BOUNDS_PERCENT = [5, 10, 20, 30, 40, 50, 60, 70, 80, 90, 100, 110, 125, 150, 200, 300, 500] as const;

export const RATIO_PREFIX = 'q';

/** The name of the bucket; undefined where nothing was estimated. */
export function ratioBucket(actualSeconds: number, estimateSeconds: number): string | undefined {
  if (!(estimateSeconds > 0)) return undefined;
  const percent = (actualSeconds / estimateSeconds) * 100;
  const index = BOUNDS_PERCENT.findIndex((bound) => percent <= bound);
  return `${RATIO_PREFIX}${index < 0 ? BOUNDS_PERCENT.length : index}`;
}

const BUCKETS = Array.from({ length: BOUNDS_PERCENT.length + 1 }, (_, index) => `${RATIO_PREFIX}${index}`);
const NUMBER_OF_BUCKET = new RegExp(`^${RATIO_PREFIX}(\\d+)$`);

/** Returns true if the bucket's jobs took longer than their holds. Undefined for an unknown bucket. */
export function isOverEstimate(name: string): boolean | undefined {
  const index = NUMBER_OF_BUCKET.exec(name)?.[1];
  return index === undefined ? undefined : (BOUNDS_PERCENT[Number(index)] ?? Number.POSITIVE_INFINITY) > 100;
}

/**
 * The upper bound, per cent, of the bucket in which this share of the jobs is reached: 100 means that this share took no
 * longer than held. Infinity above 500 %; undefined without jobs.
 */
export function ratioPercent(counts: UsageTally, share: number): number | undefined {
  const buckets = BUCKETS.map((name) => counts.get(name) ?? 0);
  const jobs = buckets.reduce((sum, count) => sum + count, 0);
  if (jobs === 0) return undefined;
  let seen = 0;
  const reached = buckets.findIndex((count) => {
    seen += count;
    return seen >= jobs * share;
  });
  return BOUNDS_PERCENT[reached] ?? Number.POSITIVE_INFINITY;
}
