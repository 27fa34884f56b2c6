/** What the local GitLab needs of a clock; virtual time and clocks turned by hand fit as well. */
export interface LocalGitLabClock {
  /** Wall clock, Unix ms: the times jobs carry. */
  nowMs(): number;
  /** Calls `run` once after `delayMs`; the result cancels it. */
  after(delayMs: number, run: () => void): () => void;
}

export const systemClock: LocalGitLabClock = {
  nowMs: () => Date.now(),
  after(delayMs, run) {
    const timer = setTimeout(run, delayMs);
    return () => clearTimeout(timer);
  },
};

/** The same clock; what is still to come can be called off at once. */
export function stoppable(clock: LocalGitLabClock): LocalGitLabClock & { stop(): void } {
  const pending = new Set<() => void>();
  return {
    nowMs: () => clock.nowMs(),
    after(delayMs, run) {
      const cancelTimer = clock.after(delayMs, () => {
        pending.delete(cancel);
        run();
      });
      const cancel = (): void => {
        pending.delete(cancel);
        cancelTimer();
      };
      pending.add(cancel);
      return cancel;
    },
    stop() {
      for (const cancel of [...pending]) cancel();
    },
  };
}
