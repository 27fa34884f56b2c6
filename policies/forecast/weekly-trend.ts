import { HISTORY_DAYS, type History, PROFILE_DAYS } from './daily-usage.ts';

const PROFILE_WEEKS = PROFILE_DAYS / 7;
/** A week keeps so much of the growth that the one before shows: nothing grows for ever. */
const DAMPING = 0.85;
/** More a week is a jump, not a trend. */
const GROWTH_MAX = 1.2;

/** By how much the days of the 1st, 2nd, 3rd … week from today differ from what the profile says; 1: not at all. */
type WeeklyTrend = (week: number) => number;

const NONE: WeeklyTrend = () => 1;

/**
 * How the sums of the last eight weeks go on. Every pair of weeks says how much a week grows on the one before (Theil–Sen, of
 * logarithms); the middle half of the pairs must go the same way, and the one that goes the least far counts. So one odd week bends
 * nothing, and what only scatters has no trend. More usage in the last week never makes it smaller.
 */
export function weeklyTrend({ amounts }: History): WeeklyTrend {
  const sums = weeklySums(amounts);
  if (sums.length < PROFILE_WEEKS || sums.includes(0)) return NONE;
  const logs = sums.map(Math.log);
  const slopes = logs
    .flatMap((from, index) => logs.slice(index + 1).map((to, further) => (to - from) / (further + 1)))
    .toSorted((a, b) => a - b);
  const [low, high] = [
    slopes[Math.ceil(slopes.length / 4)] ?? 0,
    slopes[Math.floor((slopes.length * 3) / 4) - 1] ?? 0,
  ];
  const most = Math.log(GROWTH_MAX);
  const growth = Math.max(-most, Math.min(most, low > 0 ? low : Math.min(0, high)));
  if (growth === 0) return NONE;
  // The mean of the profile's weeks stands in their middle.
  return (week) =>
    Math.exp(growth * ((PROFILE_WEEKS - 1) / 2 + (DAMPING * (1 - DAMPING ** week)) / (1 - DAMPING)));
}

/** The sums of whole weeks up to yesterday, the oldest first: a team that began within a week would seem to grow. */
function weeklySums(amounts: readonly number[]): readonly number[] {
  const weeks = Math.floor(Math.min(HISTORY_DAYS, amounts.length) / 7);
  const from = amounts.length - weeks * 7;
  return Array.from({ length: weeks }, (_, week) =>
    amounts.slice(from + week * 7, from + week * 7 + 7).reduce((sum, amount) => sum + amount, 0),
  );
}
