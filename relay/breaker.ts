/**
 * The circuit breaker in front of the admit function, as a state and pure transitions. It counts only what says "the
 * function is out of reach": no answer or 5xx. Rejections and `undecided` are answers. Throttling (429) is none of both:
 * the function is there and wants fewer calls, which pauses before the next try give it.
 *
 * It opens by the share of calls that failed, never by "so many in a row": forty lanes that call at once make forty failures
 * in a row out of one bad moment.
 */
export type BreakerState =
  | { readonly name: 'closed'; readonly recent: readonly Span[] }
  | { readonly name: 'open'; readonly untilMs: number; readonly cooldownMs: number }
  /** One call is out to see whether the function is back; all others still get the fallback at once. */
  | { readonly name: 'half_open'; readonly cooldownMs: number };

/** The calls that ended within one span of time. */
interface Span {
  /** `SPAN_MS` long from this multiple of it. */
  readonly fromMs: number;
  readonly succeeded: number;
  readonly failed: number;
}

/** What is older says nothing of now. */
export const WINDOW_MS = 10_000;
const SPAN_MS = 500;
/** Below that the tries within a deadline still get most jobs their answer, and every job of a pause is free. */
export const FAILURE_SHARE = 0.8;
/** Below that each job can wait for its own answer: the breaker spares others, and there are none. */
export const CALLS_MIN = 20;
/** A deployment, a failover or a burst is over sooner, and the tries within a deadline bridge it. */
export const FAILING_MS_MIN = 2_000;
/** First pause: every job of that time goes unmetered, so one probe looks soon. */
export const COOLDOWN_MS_MIN = 500;
/** Longest pause: a probe every ten seconds is no load, and the function is found again soon. */
export const COOLDOWN_MS_MAX = 10_000;

export const CLOSED: BreakerState = { name: 'closed', recent: [] };

/** Whether a call may go out now, and the state after asking. Asking when the pause is over takes the one probe. */
export function admitCall(
  state: BreakerState,
  nowMs: number,
): { readonly allowed: 'call' | 'probe' | undefined; readonly state: BreakerState } {
  switch (state.name) {
    case 'closed':
      return { allowed: 'call', state };
    case 'open':
      if (nowMs < state.untilMs) return { allowed: undefined, state };
      return { allowed: 'probe', state: { name: 'half_open', cooldownMs: state.cooldownMs } };
    case 'half_open':
      return { allowed: undefined, state };
  }
}

export function callSucceeded(state: BreakerState, nowMs: number): BreakerState {
  // A straggler from before the circuit opened may succeed late; that too means the function answers.
  return state.name === 'closed'
    ? { name: 'closed', recent: counted(state.recent, nowMs, 'succeeded') }
    : CLOSED;
}

/** @param probe - whether it was the call that {@link admitCall} let through to look. */
export function callFailed(state: BreakerState, nowMs: number, probe = false): BreakerState {
  switch (state.name) {
    case 'closed': {
      const recent = counted(state.recent, nowMs, 'failed');
      return isFailing(recent, nowMs) ? open(COOLDOWN_MS_MIN, nowMs) : { name: 'closed', recent };
    }
    case 'open':
      // Stragglers of the same outage must not lengthen the pause.
      return state;
    case 'half_open':
      return probe ? open(Math.min(COOLDOWN_MS_MAX, state.cooldownMs * 2), nowMs) : state;
  }
}

/** A throttled probe found the function out, but not whether it works: the next one looks after the same pause. */
export function callThrottled(state: BreakerState, nowMs: number, probe = false): BreakerState {
  return state.name === 'half_open' && probe ? open(state.cooldownMs, nowMs) : state;
}

function counted(recent: readonly Span[], nowMs: number, outcome: 'succeeded' | 'failed'): readonly Span[] {
  const fromMs = Math.floor(nowMs / SPAN_MS) * SPAN_MS;
  const last = recent.at(-1);
  if (last?.fromMs === fromMs) return [...recent.slice(0, -1), { ...last, [outcome]: last[outcome] + 1 }];
  const kept = recent.filter((span) => span.fromMs > nowMs - WINDOW_MS);
  return [...kept, { fromMs, succeeded: 0, failed: 0, [outcome]: 1 }];
}

function isFailing(recent: readonly Span[], nowMs: number): boolean {
  let calls = 0;
  let failed = 0;
  for (const span of recent) {
    calls += span.succeeded + span.failed;
    failed += span.failed;
  }
  const firstFailed = recent.find((span) => span.failed > 0);
  return (
    calls >= CALLS_MIN &&
    failed >= calls * FAILURE_SHARE &&
    firstFailed !== undefined &&
    nowMs - firstFailed.fromMs >= FAILING_MS_MIN
  );
}

const open = (cooldownMs: number, nowMs: number): BreakerState => ({
  name: 'open',
  untilMs: nowMs + cooldownMs,
  cooldownMs,
});

/** The state with its clock and its listeners. */
export interface Breaker {
  /** Permission for one call, whose holder reports what came of it, once; undefined: not now. */
  allow(): Permit | undefined;
  readonly state: BreakerState;
}

export interface Permit {
  succeeded(): void;
  failed(): void;
  throttled(): void;
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
  const permit = (probe: boolean): Permit => ({
    succeeded: () => become(callSucceeded(state, monotonicMs())),
    failed: () => become(callFailed(state, monotonicMs(), probe)),
    throttled: () => become(callThrottled(state, monotonicMs(), probe)),
  });
  return {
    allow: () => {
      const asked = admitCall(state, monotonicMs());
      become(asked.state);
      return asked.allowed && permit(asked.allowed === 'probe');
    },
    get state() {
      return state;
    },
  };
}
