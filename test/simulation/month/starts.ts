/** Draws of start times over a month, by the weight of their hours. */
import { weightOfDay } from '../../../scripts/local/random.ts';

const HOUR_MS = 3_600_000;
const HOUR_WEIGHTS = [
  1, 1, 6, 2, 1, 1, 2, 8, 30, 60, 75, 70, 45, 65, 80, 75, 60, 40, 20, 10, 6, 4, 2, 1,
] as const;

export const between = (least: number, most: number, random: () => number): number =>
  least + (most - least) * random();

/**
 * Returns a draw of start times: hours by their weight, and any moment within.
 *
 * @param firstDay - counted from 1 January 1970, in the zone of `startMs`.
 */
export function startsWithin(
  startMs: number,
  firstDay: number,
  days: number,
): (random: () => number) => number {
  const weights = Array.from(
    { length: days * 24 },
    (_, hour) => weightOfDay(firstDay + Math.floor(hour / 24)) * (HOUR_WEIGHTS[hour % 24] ?? 0),
  );
  const ends = shareEnds(weights);
  return (random) => startMs + indexAt(ends, random()) * HOUR_MS + random() * HOUR_MS;
}

export function shareEnds(weights: readonly number[]): readonly number[] {
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  let until = 0;
  return weights.map((weight) => {
    until += weight / total;
    return until;
  });
}

export function indexAt(ends: readonly number[], share: number): number {
  let low = 0;
  let high = ends.length - 1;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((ends[middle] ?? 1) > share) high = middle;
    else low = middle + 1;
  }
  return low;
}
