import type { Clock } from './clock.ts';

/** A clock that moves only by `advance`; `sleep` moves it immediately. */
export interface HandClock extends Clock {
  /** The number of pending timers. */
  readonly timers: number;
  /** Runs the timers that come due, each at its own time. A negative time steps back. */
  advance(ms: number): void;
  /** Like `advance`, but never back: a timer of an earlier moment runs now. */
  advanceTo(atMs: number): void;
}

/** The time of day is in whole ms, as wall clocks have it. */
export function handClock(startMs = 0): HandClock {
  let nowMs = startMs;
  const due = new Set<{ atMs: number; run: () => void }>();
  const advanceTo = (atMs: number): void => {
    while (due.size > 0) {
      const [next] = [...due].filter((timer) => timer.atMs <= atMs).sort((a, b) => a.atMs - b.atMs);
      if (next === undefined) break;
      due.delete(next);
      nowMs = Math.max(nowMs, next.atMs);
      next.run();
    }
    nowMs = Math.max(nowMs, atMs);
  };
  const advance = (ms: number): void => {
    if (ms < 0) nowMs += ms;
    else advanceTo(nowMs + ms);
  };
  return {
    get timers() {
      return due.size;
    },
    nowMs: () => Math.floor(nowMs),
    monotonicMs: () => nowMs - startMs,
    sleep: async (delayMs) => advance(delayMs),
    after(delayMs, run) {
      const timer = { atMs: nowMs + delayMs, run };
      due.add(timer);
      return () => due.delete(timer);
    },
    advance,
    advanceTo,
  };
}
