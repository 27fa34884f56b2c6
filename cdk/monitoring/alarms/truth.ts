import type { AlarmInput, AlarmSpec } from './alarm-spec.ts';

/** The ledger agrees with GitLab and with its own records. */
const truth: readonly AlarmSpec[] = [
  {
    name: 'SweepFailing',
    severity: 'ticket',
    says: 'The sweep has not run, or GitLab has not answered it, for a quarter of an hour: leaked holds stay.',
    formula: 'gitlabSilent',
    label: 'GitLab did not answer the sweep',
    periodMinutes: 5,
    breach: ['above', 0],
    periods: 3,
    // It runs every minute and says 0 or 1 each time: no value is no run, or one that crashed.
    missing: 'breaching',
  },
  {
    name: 'HoldsOverdue',
    severity: 'ticket',
    says: 'A hold that ought to have ended is half an hour overdue: a budget shows more held than there is.',
    formula: 'oldestDue',
    label: 'Age of the oldest overdue hold, seconds',
    periodMinutes: 10,
    breach: ['above', 1_800],
    periods: 3,
    // No value is no sweep, which is SweepFailing.
    missing: 'notBreaching',
  },
  {
    name: 'Drift',
    severity: 'ticket',
    says: 'The recount did not run, failed, is late, or found counters that do not show what their records make.',
    formula: [
      // The sweep runs each minute: a full day of runs without a drift count means that the recount is missing
      // or late.
      'IF(FILL(sweepRuns, 0) > 1440, FILL(driftedCounters, 1), FILL(driftedCounters, 0))',
      // A run that crashed has found nothing out.
      'FILL(driftErrors, 0)',
    ].join(' + '),
    label: 'Counters that drift, and recounts that failed or did not run',
    graph: 'Drift, by day',
    // A round takes a day and at most an hour more.
    periodMinutes: 26 * 60,
    breach: ['above', 0],
    periods: 1,
    // No sweep either, which is SweepFailing.
    missing: 'notBreaching',
  },
  {
    name: 'HealthProblems',
    severity: 'ticket',
    says: 'The hourly look found something that no other alarm tells of (tokens, licence, webhooks, clocks, scope, GitLab newer than its descriptors), or has not run twice.',
    // Two looks in a period: after as many minutes of sweeps a period without a look is one that was missed.
    formula: 'IF(FILL(sweepRuns, 0) > 100, FILL(healthProblems, 1), FILL(healthProblems, 0))',
    label: 'Found by the hourly look, or no look',
    graph: 'Found by the hourly look',
    periodMinutes: 120,
    breach: ['above', 0],
    periods: 1,
    // No sweep either, which is SweepFailing.
    missing: 'notBreaching',
  },
  {
    name: 'UnadmittedShare',
    severity: 'ticket',
    says: 'More than 5 % of the jobs that ran had not been admitted: runners or flags pass Tollgate by.',
    formula: 'IF(ranJobs > 20, 100 * bypassJobs / ranJobs, 0)',
    label: 'Jobs without an admission, % of those that ran',
    periodMinutes: 60,
    breach: ['above', 5],
    periods: 1,
    // No value is no sweep, which is SweepFailing.
    missing: 'notBreaching',
  },
];

/** Only where there is one. AWS's metric: it must not depend on anything of ours. */
const watchdogFailing: AlarmSpec = {
  name: 'WatchdogFailing',
  severity: 'ticket',
  says: 'The watchdog does not run, or could not reach GitLab when it had to: nobody would disarm the controller.',
  formula: 'watchdogErrors',
  label: 'Errors of the watchdog',
  graph: 'Watchdog',
  periodMinutes: 5,
  breach: ['above', 0],
  periods: 3,
  // Lambda counts the errors of each run, zero included, and it runs every minute: no value is no run.
  missing: 'breaching',
};

export const truthAlarms = ({ watchdog }: AlarmInput): readonly AlarmSpec[] => [
  ...truth,
  ...(watchdog ? [watchdogFailing] : []),
];
