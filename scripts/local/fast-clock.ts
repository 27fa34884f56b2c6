import type { LedgerClock } from '../../functions/core/ledger/ledger.ts';
import type { LocalGitLabClock } from './gitlab/clock.ts';

/** A minute of a job is a tenth of a second: whole lives are seen while one watches. */
export const SPEED = 600;

export interface FastClock extends LedgerClock, LocalGitLabClock {
  /** From now on a minute takes a minute; what waits already still comes early. */
  slowDown(): void;
}

/**
 * The time of day goes faster, from `beginsMs` on: jobs start and end by it, holds are due by it, periods change by it, and so
 * every charged duration is a true one. What bounds this machine stays real: deadlines, and pauses between tries.
 */
export function fastClock(speed = SPEED, beginsMs = Date.now()): FastClock {
  let pace = speed;
  let startMs = beginsMs;
  let startedMs = performance.now();
  const now = (): number => startMs + (performance.now() - startedMs) * pace;
  return {
    nowMs: () => Math.round(now()),
    slowDown() {
      [startMs, startedMs] = [now(), performance.now()];
      pace = 1;
    },
    monotonicMs: () => performance.now(),
    sleep: (delayMs) => new Promise((resolve) => setTimeout(resolve, delayMs)),
    after(delayMs, run) {
      const timer = setTimeout(run, delayMs / pace);
      return () => clearTimeout(timer);
    },
  };
}
