/** So many of something per key and window. */
export interface RateLimit {
  /** Counts one more. Seconds to wait; undefined: go on. */
  take(key: string): number | undefined;
  /** The same of one more, without counting it. */
  wait(key: string): number | undefined;
}

interface RateLimitOptions {
  readonly max: number;
  readonly windowMs: number;
  readonly clock: { nowMs(): number };
}

/** Keys remembered at once: 1 MB at most. Who sends from more addresses than this is no longer told apart. */
const KEYS_MAX = 10_000;

/**
 * Fixed windows in this process's memory. Each of several processes counts for itself, so that the bound is a multiple of
 * `max`; it keeps one visitor from wearing out GitLab and the table, and a counter in the table would cost a write for
 * every request it refuses. The bound on all of them is the function's own concurrency.
 */
export function rateLimit({ max, windowMs, clock }: RateLimitOptions): RateLimit {
  let counts = new Map<string, number>();
  let endsAtMs = Number.NEGATIVE_INFINITY;
  const next = (
    key: string,
  ): { readonly counted: string; readonly count: number; readonly nowMs: number } => {
    const nowMs = clock.nowMs();
    if (nowMs >= endsAtMs) {
      counts = new Map();
      endsAtMs = nowMs + windowMs;
    }
    // Strangers beyond the bound share one count rather than pushing out others'.
    const counted = counts.has(key) || counts.size < KEYS_MAX ? key : '';
    return { counted, count: (counts.get(counted) ?? 0) + 1, nowMs };
  };
  const waitSeconds = (count: number, nowMs: number): number | undefined =>
    count > max ? Math.max(1, Math.ceil((endsAtMs - nowMs) / 1_000)) : undefined;
  return {
    take(key) {
      const { counted, count, nowMs } = next(key);
      counts.set(counted, count);
      return waitSeconds(count, nowMs);
    },
    wait(key) {
      const { count, nowMs } = next(key);
      return waitSeconds(count, nowMs);
    },
  };
}
