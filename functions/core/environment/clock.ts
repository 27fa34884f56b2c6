/** What programs take for the time; tests and simulations bring their own. */
export interface LedgerClock {
  /** Wall clock, Unix ms. */
  nowMs(): number;
  /** For deadlines: never steps back. */
  monotonicMs(): number;
  sleep(ms: number): Promise<void>;
}

/** The machine's own clock. */
export const systemClock: LedgerClock = {
  nowMs: () => Date.now(),
  monotonicMs: () => performance.now(),
  sleep: (delayMs) => new Promise((resolve) => setTimeout(resolve, delayMs)),
};
