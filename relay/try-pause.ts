/** First pauses are short, because most trouble is: a throttled burst, a connection that was closed, a container that went. */
const PAUSE_MS_MIN = 50;
const PAUSE_MS_MAX = 400;

export interface TryPause {
  /** 1 after the first try. */
  readonly attempt: number;
  /** [0, 1) */
  readonly random: number;
  /** What the service asked for. */
  readonly retryAfterMs: number | undefined;
  /** After so long another try has no time left to be answered. */
  readonly leftMs: number;
}

/**
 * How long to wait before the next try, ms; undefined: there is no time for one. The pause doubles from 50 to 400 and is half
 * to all of that, so that lanes which failed together do not come back together. What the service asks for is honoured as far
 * as the time reaches: the last try is the one that a job with a deadline can wait for.
 */
export function tryPauseMs({ attempt, random, retryAfterMs = 0, leftMs }: TryPause): number | undefined {
  const fullMs = Math.min(PAUSE_MS_MAX, PAUSE_MS_MIN * 2 ** (attempt - 1));
  const pauseMs = fullMs * (0.5 + random / 2);
  if (pauseMs > leftMs) return undefined;
  return Math.min(leftMs, retryAfterMs > 0 ? retryAfterMs + pauseMs : pauseMs);
}
