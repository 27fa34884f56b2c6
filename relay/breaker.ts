/**
 * The circuit breaker in front of the admit function, as a state and pure transitions. It counts only what says "the
 * function is out of reach": no answer, 429, 5xx. Rejections and `undecided` are answers and close it.
 */
export type BreakerState =
  | { readonly name: 'closed'; readonly failures: number }
  | { readonly name: 'open'; readonly untilMs: number; readonly cooldownMs: number }
  /** One call is out to see whether the function is back; all others still get the fallback at once. */
  | { readonly name: 'half_open'; readonly cooldownMs: number };

/** Five in a row is no longer one unlucky packet, and at two tries per batch it is two or three lost batches. */
export const FAILURES_MAX = 5;
/** First pause: longer than a Lambda cold start, so the probe does not meet the same one. */
export const COOLDOWN_MS_MIN = 5_000;
/** Longest pause: every job of that time goes unmetered, so the function must be found again soon. */
export const COOLDOWN_MS_MAX = 30_000;

export const CLOSED: BreakerState = { name: 'closed', failures: 0 };

/** Whether a call may go out now, and the state after asking. Asking when the pause is over takes the one probe. */
export function admitCall(
  state: BreakerState,
  nowMs: number,
): { readonly allowed: boolean; readonly state: BreakerState } {
  switch (state.name) {
    case 'closed':
      return { allowed: true, state };
    case 'open':
      if (nowMs < state.untilMs) return { allowed: false, state };
      return { allowed: true, state: { name: 'half_open', cooldownMs: state.cooldownMs } };
    case 'half_open':
      return { allowed: false, state };
  }
}

export function callSucceeded(state: BreakerState): BreakerState {
  // A straggler from before the circuit opened may succeed late; that too means the function answers.
  return state.name === 'closed' && state.failures === 0 ? state : CLOSED;
}

export function callFailed(state: BreakerState, nowMs: number): BreakerState {
  switch (state.name) {
    case 'closed':
      return state.failures + 1 < FAILURES_MAX
        ? { name: 'closed', failures: state.failures + 1 }
        : open(COOLDOWN_MS_MIN, nowMs);
    case 'open':
      // Stragglers of the same outage must not lengthen the pause.
      return state;
    case 'half_open':
      return open(Math.min(COOLDOWN_MS_MAX, state.cooldownMs * 2), nowMs);
  }
}

const open = (cooldownMs: number, nowMs: number): BreakerState => ({
  name: 'open',
  untilMs: nowMs + cooldownMs,
  cooldownMs,
});

/** The state with its clock and its listeners. */
export interface Breaker {
  /** Takes permission for one call; whoever gets it reports `succeeded` or `failed`. */
  allow(): boolean;
  succeeded(): void;
  failed(): void;
  readonly state: BreakerState;
}

export function createBreaker(
  monotonicMs: () => number,
  changed: (name: BreakerState['name']) => void,
): Breaker {
  let state = CLOSED;
  const become = (next: BreakerState): void => {
    const before = state.name;
    state = next;
    if (next.name !== before) changed(next.name);
  };
  return {
    allow: () => {
      const asked = admitCall(state, monotonicMs());
      become(asked.state);
      return asked.allowed;
    },
    succeeded: () => become(callSucceeded(state)),
    failed: () => become(callFailed(state, monotonicMs())),
    get state() {
      return state;
    },
  };
}
