import { performance } from 'node:perf_hooks';

/** @returns tells what share of the time since it was last asked this process's loop was busy for, 0 to 1. */
export function eventLoopShare(): () => number {
  let last = performance.eventLoopUtilization();
  return () => {
    const now = performance.eventLoopUtilization();
    const { utilization } = performance.eventLoopUtilization(now, last);
    last = now;
    return utilization;
  };
}
