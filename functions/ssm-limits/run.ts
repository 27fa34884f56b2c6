import type { Log } from '../core/environment/log.ts';
import type { Metrics } from '../core/metrics/metrics.ts';
import { METRIC_LIMITS_UNREADABLE } from '../names.ts';
import { logReport, measureReport } from './report.ts';
import { type SyncDeps, syncLimits } from './sync.ts';
import { changedAtMs, isTimeFor } from './trigger.ts';

export interface RunDeps extends SyncDeps {
  readonly log: Log;
  readonly metrics: Metrics;
}

/** One invocation. A run that fails counts like a parameter that cannot be read: so the same alarm tells of it. */
export async function runOn(event: unknown, deps: RunDeps): Promise<void> {
  const { marks, clock, log, metrics } = deps;
  try {
    const atMs = changedAtMs(event, clock.nowMs());
    const listed = async () => (await marks.readPass()).completeFromMs;
    if (!(await isTimeFor(atMs, listed, clock))) return;
    const report = await syncLimits(deps);
    logReport(report, log);
    measureReport(report, metrics);
  } catch (error) {
    const cause = error instanceof Error ? error.message : String(error);
    log.error('limits in Parameter Store not read, the last valid ones stay', { cause });
    metrics.add(METRIC_LIMITS_UNREADABLE, 1);
    metrics.flush();
    throw error;
  }
}
