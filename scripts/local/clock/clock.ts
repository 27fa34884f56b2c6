/** The machine's clock and a faster one. See hand-clock.ts and virtual-time.ts for others. */
import type { LedgerClock } from '../../../functions/core/environment/index.ts';
import type { RelayClock } from '../../../relay/exchange.ts';

/** The clock of the ledger and of the relay. */
export interface Clock extends LedgerClock, RelayClock {}

/** The time of day, and timers. */
export type WallClock = Pick<Clock, 'nowMs' | 'after'>;

/** Durations, and timers. */
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

/** Returns the same clock with a `stop` that cancels all pending timers. */
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

/** A minute of a job takes a tenth of a second, so that a whole run is short. */
export const SPEED = 600;

export interface FastClock extends Clock {
  /** From now on a minute takes a minute. Pending timers keep their time. */
  slowDown(): void;
}

/**
 * Makes the time of day go faster, from `beginsMs` on. Jobs, holds and periods use it, so charged durations are right.
 * Deadlines and pauses between retries stay real.
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
