/**
 * The circuit breaker in front of the admit function.
 *
 *   closed ──failing──▶ open ──pause over──▶ half_open ──probe fails──▶ open, twice the pause
 *      ▲                  └──any success──┐      └──probe succeeds──┐
 *      └──────────────────────────────────┴─────────────────────────┘
 *
 * Missing, malformed and 5xx responses count as failures. Throttling (429) counts as neither: the function works and asks for fewer
 * calls. The breaker opens by the share of failed calls, never by failures in a row: forty lanes that call together make forty
 * failures in a row out of one bad moment.
 */
export type BreakerState = 'closed' | 'open' | 'half_open';

interface Span {
  readonly fromMs: number;
  succeeded: number;
  failed: number;
}

const WINDOW_MS = 10_000;
const SPAN_MS = 500;
/** Below this share the retries within a deadline still get most jobs a decision; an open breaker admits them unmetered. */
const FAILURE_SHARE = 0.8;
const CALLS_MIN = 20;
/** A deployment, a failover or a burst is over sooner, and the retries within a deadline bridge it. */
const FAILING_MS_MIN = 2_000;
const PAUSE_MS_MIN = 500;
const PAUSE_MS_MAX = 10_000;

export interface Permit {
  succeeded(): void;
  failed(): void;
  throttled(): void;
}

export type Breaker = ReturnType<typeof createBreaker>;

export function createBreaker(monotonicMs: () => number, changed: (state: BreakerState) => void) {
  let state: BreakerState = 'closed';
  let recent: Span[] = [];
  let pauseMs = PAUSE_MS_MIN;
  let pausedUntilMs = 0;

  function become(next: BreakerState): void {
    if (next === state) return;
    state = next;
    changed(next);
  }

  function open(forMs: number): void {
    pauseMs = forMs;
    pausedUntilMs = monotonicMs() + forMs;
    recent = [];
    become('open');
  }

  function spanOfNow(): Span {
    const nowMs = monotonicMs();
    const fromMs = Math.floor(nowMs / SPAN_MS) * SPAN_MS;
    const last = recent.at(-1);
    if (last?.fromMs === fromMs) return last;
    const span = { fromMs, succeeded: 0, failed: 0 };
    recent = [...recent.filter((each) => each.fromMs > nowMs - WINDOW_MS), span];
    return span;
  }

  function isFailing(): boolean {
    const failed = recent.reduce((sum, span) => sum + span.failed, 0);
    const calls = recent.reduce((sum, span) => sum + span.succeeded, failed);
    const firstMs = recent.find((span) => span.failed > 0)?.fromMs ?? Number.POSITIVE_INFINITY;
    return calls >= CALLS_MIN && failed >= calls * FAILURE_SHARE && monotonicMs() - firstMs >= FAILING_MS_MIN;
  }

  const permit = (isProbe: boolean): Permit => ({
    // A call from before the breaker opened may succeed late. It shows that the function works.
    succeeded: () => {
      if (state === 'closed') spanOfNow().succeeded += 1;
      become('closed');
    },
    // Late failures of the same outage must not lengthen the pause, so only the probe counts while half open.
    failed: () => {
      if (state === 'closed') {
        spanOfNow().failed += 1;
        if (isFailing()) open(PAUSE_MS_MIN);
      } else if (state === 'half_open' && isProbe) open(Math.min(PAUSE_MS_MAX, pauseMs * 2));
    },
    // A throttled probe found the function, but not whether it works. The next one comes after the same pause.
    throttled: () => {
      if (state === 'half_open' && isProbe) open(pauseMs);
    },
  });

  return {
    allow: (): Permit | undefined => {
      if (state === 'closed') return permit(false);
      if (state === 'half_open' || monotonicMs() < pausedUntilMs) return undefined;
      become('half_open');
      return permit(true);
    },
    get state(): BreakerState {
      return state;
    },
  };
}
