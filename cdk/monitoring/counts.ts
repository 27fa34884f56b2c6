/** Counts the CloudWatch resources of a deployment for `tollgate cost`. It does not load the CDK. */
import { FUNCTION_METRICS } from '../../functions/names.ts';
import { RELAY_METRICS, RELAY_WAITING_METRICS } from '../../relay/names.ts';
import type { AlarmInput } from './alarms/alarm-spec.ts';
import { alarmsFor } from './alarms/all-alarms.ts';
import { seriesIn } from './series.ts';

export interface MonitoringCounts {
  /** Names under the one dimension that is paid for; without those that are only written while jobs wait for room. */
  readonly customMetrics: number;
  readonly alarms: number;
  /** Metrics that they look at: an alarm on arithmetic is billed for each of its metrics. */
  readonly alarmMetrics: number;
  readonly compositeAlarms: number;
  readonly dashboards: number;
}

export function monitoringCounts(watched: AlarmInput): MonitoringCounts {
  const alarms = alarmsFor(watched);
  return {
    customMetrics: watched.metrics
      ? new Set([...FUNCTION_METRICS, ...RELAY_METRICS]).size - RELAY_WAITING_METRICS.length
      : 0,
    alarms: alarms.length,
    alarmMetrics: alarms.reduce((sum, { formula }) => sum + seriesIn(formula).length, 0),
    compositeAlarms: alarms.some(({ toldBy }) => toldBy !== undefined) ? 1 : 0,
    dashboards: 1,
  };
}
