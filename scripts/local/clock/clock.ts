/** The clocks of programs that play, measure and test: the machine's own, and one that hurries. See hand-clock.ts and virtual-time.ts. */
import type { LedgerClock } from '../../../functions/core/environment/index.ts';
import type { RelayClock } from '../../../relay/exchange.ts';

/** As the ledger and the relay have it. */
export interface Clock extends LedgerClock, RelayClock {}

/** What needs the time of day, and to be called later. */
export type WallClock = Pick<Clock, 'nowMs' | 'after'>;

/** What needs to know how long something took, and to be called later. */
export type RouterClock = Pick<Clock, 'monotonicMs' | 'after'>;

export const machineClock: Clock = {
  nowMs: () => Date.now(),
  monotonicMs: () => performance.now(),
  sleep: (delayMs) => new Promise((resolve) => setTimeout(resolve, delayMs)),
  after: (delayMs, run) => {
    const timer = setTimeout(run, delayMs);
    return () => clearTimeout(timer);
  },
};

/** The same clock; what is still to come can be called off at once. */
export function stoppable(clock: WallClock): WallClock & { stop(): void } {
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

/** A minute of a job is a tenth of a second: whole lives are seen while one watches. */
export const SPEED = 600;

export interface FastClock extends Clock {
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
    ...machineClock,
    nowMs: () => Math.round(now()),
    slowDown() {
      [startMs, startedMs] = [now(), performance.now()];
      pace = 1;
    },
    after: (delayMs, run) => machineClock.after(delayMs / pace, run),
  };
}
