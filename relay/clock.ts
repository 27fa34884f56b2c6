import type { RelayClock } from './exchange.ts';

/** The machine's clocks. Tests pass their own. */
export const systemRelayClock: RelayClock = {
  nowMs: () => Date.now(),
  monotonicMs: () => performance.now(),
  after: (delayMs, run) => {
    const timer = setTimeout(run, delayMs);
    return () => clearTimeout(timer);
  },
};
