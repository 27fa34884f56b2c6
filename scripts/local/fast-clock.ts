import type { LedgerClock } from '../../functions/ledger/ledger.ts';
import type { LocalGitLabClock } from '../local-gitlab/clock.ts';

/** A minute of a job is a tenth of a second: whole lives are seen while one watches. */
export const SPEED = 600;

/**
 * The time of day goes faster, from now on: jobs start and end by it, holds are due by it, periods change by it, and so
 * every charged duration is a true one. What bounds this machine stays real: deadlines, and pauses between tries.
 */
export function fastClock(speed = SPEED): LedgerClock & LocalGitLabClock {
  const startMs = Date.now();
  const startedMs = performance.now();
  return {
    nowMs: () => Math.round(startMs + (performance.now() - startedMs) * speed),
    monotonicMs: () => performance.now(),
    sleep: (delayMs) => new Promise((resolve) => setTimeout(resolve, delayMs)),
    after(delayMs, run) {
      const timer = setTimeout(run, delayMs / speed);
      return () => clearTimeout(timer);
    },
  };
}
