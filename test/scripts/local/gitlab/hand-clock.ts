import type { LocalGitLabClock } from '../../../../scripts/local/gitlab/clock.ts';

/** A clock that moves when told to, and runs what has come due, each at its own time. */
export function handClock(startMs = 0): LocalGitLabClock & { advance(ms: number): void } {
  let nowMs = startMs;
  const due = new Set<{ atMs: number; run: () => void }>();
  return {
    nowMs: () => nowMs,
    after(delayMs, run) {
      const timer = { atMs: nowMs + delayMs, run };
      due.add(timer);
      return () => due.delete(timer);
    },
    advance(ms) {
      const endMs = nowMs + ms;
      for (;;) {
        const [next] = [...due].filter(({ atMs }) => atMs <= endMs).sort((a, b) => a.atMs - b.atMs);
        if (next === undefined) break;
        due.delete(next);
        nowMs = next.atMs;
        next.run();
      }
      nowMs = endMs;
    },
  };
}
