import { DAY_MS } from '../../limits/calendar.ts';

/** Half-open, Unix ms: `endMs` is no longer in it. `Infinity`: until somebody lifts it. */
export interface FreezeSpan {
  readonly startMs: number;
  readonly endMs: number;
}

export interface FreezeWindows {
  readonly absolute: readonly FreezeSpan[];
  /** Those of the weekly ones that may be open at an instant. */
  readonly weeklyAt: (atMs: number) => readonly FreezeSpan[];
}

/** Weekly windows that leave no gap for so long have none: a change of the clocks can close one for a week, not for two. */
const GAPLESS_MS = 28 * DAY_MS;

/**
 * When the freeze that holds at an instant ends; `Infinity`: when somebody lifts it; undefined: none holds. Windows that
 * touch or overlap are one freeze.
 */
export function frozenUntilMs({ absolute, weeklyAt }: FreezeWindows, atMs: number): number | undefined {
  let untilMs = atMs;
  let weeklySinceMs = atMs;
  // Ends, because every pass goes beyond an absolute window for good, or a weekly one further through these weeks.
  while (untilMs - weeklySinceMs <= GAPLESS_MS) {
    const absoluteEndMs = latestEnd(absolute, untilMs);
    const endMs = absoluteEndMs ?? latestEnd(weeklyAt(untilMs), untilMs);
    if (endMs === undefined) return untilMs === atMs ? undefined : untilMs;
    untilMs = endMs;
    if (untilMs === Number.POSITIVE_INFINITY) return untilMs;
    if (absoluteEndMs !== undefined) weeklySinceMs = untilMs;
  }
  return Number.POSITIVE_INFINITY;
}

/** The last end of the windows an instant is in. */
function latestEnd(spans: readonly FreezeSpan[], atMs: number): number | undefined {
  let latest: number | undefined;
  for (const { startMs, endMs } of spans) {
    if (startMs <= atMs && atMs < endMs && (latest === undefined || endMs > latest)) latest = endMs;
  }
  return latest;
}
