import type { LedgerClock } from '../../../functions/core/ledger/ledger.ts';

export interface TestClock extends LedgerClock {
  /** Moves the wall clock. Deadlines run on as they are. */
  advance(ms: number): void;
}

export const NOVEMBER_21_MS = Date.UTC(2026, 10, 21, 12);

/** A wall clock that stands still until moved; the monotonic one is the machine's. */
export function testClock(): TestClock {
  let nowMs = NOVEMBER_21_MS;
  return {
    nowMs: () => nowMs,
    monotonicMs: () => performance.now(),
    sleep: (delayMs) => new Promise((resolve) => setTimeout(resolve, delayMs)),
    advance: (ms) => {
      nowMs += ms;
    },
  };
}

export interface ManualClock extends LedgerClock {
  advance(ms: number): void;
}

/** Both clocks stand still; sleeping moves them on at once. For faults that would take real time. */
export function manualClock(): ManualClock {
  let passedMs = 0;
  return {
    nowMs: () => NOVEMBER_21_MS + passedMs,
    monotonicMs: () => passedMs,
    sleep: async (delayMs) => {
      passedMs += delayMs;
    },
    advance: (ms) => {
      passedMs += ms;
    },
  };
}
