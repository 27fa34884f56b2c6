import type { Clock } from './clock.ts';

/** A clock that never runs by itself: whoever sleeps moves it on at once. */
export interface HandClock extends Clock {
  /** What is still to come. */
  readonly timers: number;
  /** Runs what comes due meanwhile, each at its own time. Below 0 it steps back. */
  advance(ms: number): void;
  /** Never back: what was planned for an earlier moment happens now. */
  advanceTo(atMs: number): void;
}

/** Its time of day is whole ms, as every wall clock tells them. */
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
