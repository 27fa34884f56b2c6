import type { LedgerClock } from '../../../functions/core/environment/environment.ts';
import { type HandClock, handClock, machineClock } from '../../../scripts/local/clock.ts';

export interface TestClock extends LedgerClock {
  /** Moves the wall clock. Deadlines run on as they are. */
  advance(ms: number): void;
}

export const NOVEMBER_21_MS = Date.UTC(2026, 10, 21, 12);

/** A wall clock that stands still until moved; the monotonic one is the machine's. */
export function testClock(): TestClock {
  let nowMs = NOVEMBER_21_MS;
  return {
    ...machineClock,
    nowMs: () => nowMs,
    advance: (ms) => {
      nowMs += ms;
    },
  };
}

/** Both clocks stand still; sleeping moves them on at once. For faults that would take real time. */
export const manualClock = (): HandClock => handClock(NOVEMBER_21_MS);

/** The same, where a scheduler decides when a sleep is over. */
export function steppedClock(step: (label: string) => Promise<void>): HandClock {
  const clock = manualClock();
  return {
    ...clock,
    sleep: async (delayMs) => {
      await step('sleep');
      clock.advance(delayMs);
    },
  };
}
