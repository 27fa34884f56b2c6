import type { LedgerClock } from './ledger.ts';

/** The machine's own clock. */
export const systemClock: LedgerClock = {
  nowMs: () => Date.now(),
  monotonicMs: () => performance.now(),
  sleep: (delayMs) => new Promise((resolve) => setTimeout(resolve, delayMs)),
};
