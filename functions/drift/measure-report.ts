import type { Metrics } from '../core/metrics/index.ts';
import { METRIC_DRIFTED_COUNTERS } from '../names.ts';
import type { DriftReport } from './tell-drift.ts';

/** One run as a metric, zero included: a day without it is a night without a check. */
export function measureDriftReport({ drifting }: DriftReport, metrics: Metrics): void {
  metrics.add(METRIC_DRIFTED_COUNTERS, drifting);
  metrics.flush();
}
