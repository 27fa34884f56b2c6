import type { RouterClock } from '../../../../scripts/local/router/clock.ts';

/** A clock that moves when told to, and runs what has come due, in order. */
export function handClock(): RouterClock & { advance(ms: number): void } {
  let nowMs = 0;
  const due = new Set<{ atMs: number; run: () => void }>();
  return {
    monotonicMs: () => nowMs,
    after(delayMs, run) {
      const timer = { atMs: nowMs + delayMs, run };
      due.add(timer);
      return () => due.delete(timer);
    },
    advance(ms) {
      nowMs += ms;
      for (const timer of [...due].sort((a, b) => a.atMs - b.atMs)) {
        if (timer.atMs > nowMs || !due.delete(timer)) continue;
        timer.run();
      }
    },
  };
}
