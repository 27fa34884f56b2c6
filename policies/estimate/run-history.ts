/** How long the last runs of one job name on one runner class took. */
export interface RunHistory {
  /** Whole seconds, oldest first, at most {@link RUNS_KEPT}. */
  readonly lastSeconds: readonly number[];
  /** All runs ever seen, also those no longer kept. */
  readonly runs: number;
  /** When it ran last, whole hours since 1970. */
  readonly usedAtHour: number;
}

/** p90 of twenty leaves out the two longest, and a job that changed is known anew after a day's pushes. */
export const RUNS_KEPT = 20;
/** One run tells nothing: it may be the one of 20 hours. The middle one of three is believed. */
const RUNS_MIN = 3;
/** No run counts for more than this many times the median: one run of 20 h moves a job of 2 min to at most 8 min. */
export const OUTLIER_FACTOR = 4;
/** A hold of nothing would let a whole pipeline start on an empty budget. */
export const ESTIMATE_SECONDS_MIN = 30;
const SHARE = 0.9;
/** GitLab's longest job timeout is a month. */
const RUN_SECONDS_MAX = 31 * 86_400;
const HOUR_MS = 3_600_000;

/** @param seconds - how long it ran; a job that ran for no time tells nothing and changes nothing. */
export function withRun(history: RunHistory | undefined, seconds: number, endedAtMs: number): RunHistory {
  const before = history ?? { lastSeconds: [], runs: 0, usedAtHour: 0 };
  if (!(seconds > 0)) return before;
  const took = Math.min(Math.ceil(seconds), RUN_SECONDS_MAX);
  return {
    lastSeconds: [...before.lastSeconds, took].slice(-RUNS_KEPT),
    runs: before.runs + 1,
    usedAtHour: Math.max(before.usedAtHour, Math.floor(endedAtMs / HOUR_MS)),
  };
}

/**
 * p90 (nearest rank) of the last runs, each counted for at most {@link OUTLIER_FACTOR} times their median. Undefined: too
 * few runs. To poison it, half of the last twenty runs have to be long, and those are paid for.
 */
export function estimateOfRuns({ lastSeconds }: RunHistory): number | undefined {
  if (lastSeconds.length < RUNS_MIN) return undefined;
  const sorted = lastSeconds.toSorted((a, b) => a - b);
  const median = sorted[Math.ceil(sorted.length / 2) - 1] ?? 0;
  const p90 = sorted[Math.ceil(sorted.length * SHARE) - 1] ?? 0;
  return Math.max(ESTIMATE_SECONDS_MIN, Math.min(p90, median * OUTLIER_FACTOR));
}
