import { FUNCTION_METRICS } from '../../../functions/names.ts';
import { RELAY_METRICS, RELAY_WAITING_METRICS } from '../../../relay/names.ts';
import { needsOwnMetrics, seriesIn } from '../series.ts';
import { answerAlarms, ledgerAlarms, ruleAlarms } from './admissions.ts';
import { type AlarmInput, type AlarmSpec, complete } from './alarm-spec.ts';
import { deskAlarms, endsOfJobsAlarms, readingAlarms, truthAlarms } from './programs.ts';

/** The alarms of a deployment. Those of AWS alone are left if there are no metrics of ours. */
export const alarmsFor = (watched: AlarmInput): readonly AlarmSpec[] =>
  [
    ...answerAlarms(watched),
    ...readingAlarms,
    ...ledgerAlarms,
    ...endsOfJobsAlarms,
    ...truthAlarms(watched),
    ...ruleAlarms,
    ...deskAlarms(watched),
  ]
    .filter(({ formula }) => watched.metrics || !needsOwnMetrics(formula))
    .map(complete);

/** For `tollgate cost`, which does not load the CDK. */
export function monitoringCounts(watched: AlarmInput) {
  const alarms = alarmsFor(watched);
  return {
    /** Names under the one dimension that is paid for; without those that are only written while jobs wait for room. */
    customMetrics: watched.metrics
      ? new Set([...FUNCTION_METRICS, ...RELAY_METRICS]).size - RELAY_WAITING_METRICS.length
      : 0,
    alarms: alarms.length,
    /** An alarm on arithmetic is billed for each of its metrics. */
    alarmMetrics: alarms.reduce((sum, { formula }) => sum + seriesIn(formula).length, 0),
    compositeAlarms: alarms.some(({ toldBy }) => toldBy !== undefined) ? 1 : 0,
    dashboards: 1,
  };
}

export type MonitoringCounts = ReturnType<typeof monitoringCounts>;
