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

/** Keys in memory: 1 MB at most. Callers with more addresses share a count. */
const KEYS_MAX = 10_000;

/**
 * Fixed windows in memory. Each process counts separately, so the real bound is a multiple of `max`. It
 * protects GitLab and the table from one visitor; a counter in the table would cost a write per refused
 * request. The function's concurrency bounds all of them.
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
