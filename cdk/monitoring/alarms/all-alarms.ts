import { needsOwnMetrics } from '../series.ts';
import type { AlarmInput, AlarmSpec } from './alarm-spec.ts';
import { answerAlarms } from './answers.ts';
import { deskAlarms } from './desk.ts';
import { endsOfJobsAlarms } from './ends-of-jobs.ts';
import { ledgerAlarms } from './ledger.ts';
import { readingAlarms } from './reading.ts';
import { ruleAlarms } from './rules.ts';
import { truthAlarms } from './truth.ts';

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
  ].filter(({ formula }) => watched.metrics || !needsOwnMetrics(formula));
