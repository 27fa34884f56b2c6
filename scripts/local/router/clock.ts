import type { RelayClock } from '../../../relay/exchange.ts';

/** What the router needs of a clock; tests pass one they turn by hand. */
export type RouterClock = Pick<RelayClock, 'monotonicMs' | 'after'>;

export const systemClock: RouterClock = {
  monotonicMs: () => performance.now(),
  after(delayMs, run) {
    const timer = setTimeout(run, delayMs);
    return () => clearTimeout(timer);
  },
};
