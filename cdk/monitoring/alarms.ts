/** All alarms of a deployment, with those of the sweep, the ends of jobs, and the console and notices. */
import { FUNCTION_METRIC, FUNCTION_METRICS } from '../../functions/names.ts';
import { RELAY_METRIC, RELAY_METRICS } from '../../relay/names.ts';
import { type AlarmInput, type AlarmRow, admissionAlarms } from './admission-alarms.ts';
import { needsOwnMetrics, type RolledOut, seriesIn } from './series.ts';

/** The ledger agrees with GitLab and with its own records. */
const agreementAlarms = ({ watchdog }: AlarmInput): readonly AlarmRow[] => [
  {
    name: 'SweepFailing',
    says: 'The sweep has not run, has failed, or GitLab has not answered it, for a quarter of an hour: leaked holds stay.',
    formula: 'sweepErrors + FILL(gitLabSilent, 0)',
    label: 'Sweeps that failed or that GitLab did not answer',
    periods: 3,
    // Lambda counts the errors of each run, zero included, and it runs every minute: no value is no run.
    missing: 'breaching',
  },
  {
    name: 'HoldsOverdue',
    says: 'A hold is 30 minutes overdue: a budget shows more held than its running jobs use.',
    formula: 'oldestDueAgeSeconds',
    label: 'Age of the oldest overdue hold, seconds',
    periodMinutes: 10,
    breach: ['above', 1_800],
    periods: 3,
  },
  {
    name: 'Drift',
    says: 'The recount did not run, failed, is late, or found counters that differ from their job records.',
    formula: [
      // The sweep runs each minute: a full day of its runs without one of the recount is a recount that does not run.
      'IF(FILL(sweepCalls, 0) > 1440, FILL(driftErrors, 1), FILL(driftErrors, 0))',
      'FILL(driftedCounters, 0)',
    ].join(' + '),
    label: 'Counters that drift, and recounts that failed or did not run',
    graph: 'Drift, by day',
    // A round takes a day and at most an hour more.
    periodMinutes: 26 * 60,
  },
  {
    name: 'HealthProblems',
    says: 'The hourly health check found a problem without an alarm of its own (tokens, licence, webhooks, clocks, scope, GitLab newer than its descriptors), failed, or has not run twice.',
    // Two checks in a period: after as many minutes of sweeps a period without a check is one that was missed.
    formula: 'IF(FILL(sweepCalls, 0) > 100, FILL(doctorErrors, 1), 0) + FILL(healthProblems, 0)',
    label: 'Problems of the hourly health check, or missed checks',
    graph: 'Found by the hourly health check',
    periodMinutes: 120,
  },
  {
    name: 'UnadmittedShare',
    says: 'More than 5 % of the jobs that ran had no admission request: tollgate coverage lists the runners that bypass.',
    formula: 'IF(ranJobs > 20, 100 * bypassJobs / ranJobs, 0)',
    label: 'Jobs without an admission, % of all that ran',
    periodMinutes: 60,
    breach: ['above', 5],
  },
  ...(watchdog ? [watchdogFailing] : []),
];

/** It uses AWS's metric, because it must not depend on anything of ours. */
const watchdogFailing: AlarmRow = {
  name: 'WatchdogFailing',
  says: 'The watchdog does not run, or could not reach GitLab when it had to: the controller would stay armed without relays.',
  formula: 'watchdogErrors',
  label: 'Errors of the watchdog',
  graph: 'Watchdog',
  periods: 3,
  missing: 'breaching',
};

/** Stands for an age where a reader reads nothing, so that there is none. */
const UNREAD_SECONDS = 3_600;

/** From a job's end to its charge: webhook, inbox, stream. */
const endsOfJobsAlarms: readonly AlarmRow[] = [
  {
    name: 'WebhookSilence',
    says: 'Jobs are admitted, but their ends hardly arrive: GitLab sends none, deliveries are refused, or the inbox is not read. Holds wait for the sweep.',
    formula: [
      // A hundred an hour is more than attackers try, and each may have been the end of a job.
      'IF(FILL(settleRefused, 0) + FILL(settleBroken, 0) > 100, 0,',
      // A reader that is five minutes behind is StreamBehind alone.
      'IF(FILL(settleAge, 0) > 300000, 100,',
      // Every admitted job ends once. Twenty an hour: with fewer, an hour without an end says nothing.
      'IF(FILL(admitted, 0) > 20, 100 * FILL(jobEvents, 0) / FILL(admitted, 1), 100)))',
    ].join(' '),
    label: 'Ends by webhook, % of admissions; 0: refused',
    periodMinutes: 60,
    breach: ['below', 20],
    // Jobs of a night may all take longer than an hour.
    periods: 2,
  },
  {
    name: 'StreamBehind',
    says: 'Ended jobs are charged, or usage is summed up, more than five minutes late.',
    formula: [
      // The rollup reads each settlement within about a minute; settlements without rollup calls mean that it
      // is not running.
      `IF(FILL(settlementLagSeconds, -1) > -1 && FILL(rollupCalls, 0) < 1, ${UNREAD_SECONDS},`,
      // Each is written only while there is something to read. Ages come in milliseconds.
      'MAX([FILL(settlementLagSeconds, 0), FILL(settleAge, 0) / 1000, FILL(rollupAge, 0) / 1000]))',
    ].join(' '),
    label: 'Seconds behind',
    breach: ['above', 300],
    periods: 3,
  },
  {
    name: 'DeadLetters',
    says: 'A stream record failed all retries: a job stays held, or usage lacks it.',
    formula: 'FILL(settleLetters, 0) + FILL(rollupLetters, 0)',
    label: 'Dead letters that wait',
    graph: 'Dead letters',
    periodMinutes: 15,
  },
  {
    name: 'RollupLeavesOut',
    says: 'Owners of limits could not be notified of a threshold, or the stream has unreadable items.',
    formula: 'rollupLeftOut',
    label: 'Items skipped and counters not notified',
    graph: 'Left out of usage and mails',
    // A topic that refuses once takes the same with the next batch.
    periods: [2, 3],
  },
  {
    name: 'AdmittedYetFailed',
    severity: 'page',
    says: 'Jobs fail that were admitted: GitLab misreads our responses, or another controller refuses them.',
    formula: 'FILL(admittedYetFailed, 0)',
    label: 'Admitted jobs that the router failed',
    graph: 'Admitted, yet failed by GitLab',
    periodMinutes: 15,
    // One or two are answers that arrived too late. Where answers are misread, every job fails.
    breach: ['above', 2],
  },
];

/** Some runs of each program in it, so that the clock's own jitter leaves none empty. */
const PERIOD_MINUTES = 15;
const RUN_MINUTES = 5;

/** Alarms of the console and the notices. They use AWS metrics, which are free and independent of ours. */
function consoleAlarms({ noticesMinutes, requeue, console }: AlarmInput): readonly AlarmRow[] {
  const isRare = noticesMinutes > PERIOD_MINUTES;
  const failing: AlarmRow = {
    name: 'ConsoleFailing',
    says: 'Users cannot see or change limits or are not notified: the console fails, or a scheduled program for limits and retries fails or does not run.',
    formula: [
      'ssmLimitsErrors',
      // If they run less often than once per period, NoticesSilent covers their silence.
      ...(noticesMinutes > 0 ? [isRare ? 'FILL(noticesErrors, 0)' : 'noticesErrors'] : []),
      ...(requeue ? ['requeueErrors'] : []),
      ...(console ? ['FILL(consoleBroken, 0)', 'FILL(consoleThrottles, 0)'] : []),
    ].join(' + '),
    label: 'Pages and runs that failed',
    graph: true,
    periodMinutes: PERIOD_MINUTES,
    periods: 2,
    // Lambda counts the errors of each run, zero included, and each of these runs in every period: no value is no run.
    missing: 'breaching',
  };
  if (!isRare) return [failing];
  const periodMinutes = 2 * noticesMinutes;
  // Allow missing runs: a deployment may skip one.
  const runs = Math.floor((0.9 * periodMinutes) / RUN_MINUTES);
  const silent: AlarmRow = {
    name: 'NoticesSilent',
    says: 'Owners get no notices about their limits: the notices program has missed two runs.',
    // A whole period of runs of the other program by the clock: so long the deployment is there.
    formula: `IF(FILL(ssmLimitsCalls, 0) < ${runs}, 1, FILL(noticesCalls, 0))`,
    label: 'Runs of the notices program',
    graph: 'Runs of the notices program',
    periodMinutes,
    breach: ['below', 1],
  };
  return [failing, silent];
}

/* Alarms that take a new version of a function back while it gets a tenth of the calls. */

const ROLLOUT_RUNBOOK = 'A rollout that was taken back';
/** Per cent of all answers, for a version that has a tenth of them. */
const ROLLOUT_SHARE_MAX = 5;
const REJECTED = '100 * FILL(rejected, 0) / requests';

const errors = (name: string, formula: string): AlarmRow => ({
  ...{ name, formula, runbook: ROLLOUT_RUNBOOK, label: 'Failed calls of the new version' },
  says: 'The new version fails.',
  periodMinutes: 1,
  periods: [2, 5],
});

const ROLLOUT_ROWS: Readonly<Record<RolledOut, readonly AlarmRow[]>> = {
  admit: [
    errors('AdmitRollout', 'admitRolloutErrors'),
    {
      ...{ name: 'AdmitRolloutFallback', runbook: ROLLOUT_RUNBOOK, periodMinutes: 1, periods: [2, 5] },
      says: `More than ${ROLLOUT_SHARE_MAX} % of the answers came without the ledger while a new version rolled out.`,
      formula: 'IF(requests > 0, 100 * fallbackAnswers / requests, 0)',
      label: 'Answers without the ledger, % of requests',
      breach: ['above', ROLLOUT_SHARE_MAX],
    },
    {
      ...{ name: 'AdmitRolloutRejections', runbook: ROLLOUT_RUNBOOK, periodMinutes: 1 },
      says: `The share of rejected jobs is more than ${ROLLOUT_SHARE_MAX} points above that of the last hour.`,
      // The hour is the alarm's range; only its last five minutes count, or a jump would hold deployments back for an hour.
      formula: `IF(requests >= 20 && EPOCH(requests) > MAX(EPOCH(requests)) - 300, ${REJECTED} - AVG(${REJECTED}), 0)`,
      label: 'Rejected jobs, points above the hour',
      breach: ['above', ROLLOUT_SHARE_MAX],
      periods: [3, 60],
    },
  ],
  settle: [errors('SettleRollout', 'settleRolloutErrors')],
  // A broken page is answered.
  console: [errors('ConsoleRollout', 'FILL(consoleRolloutErrors, 0) + FILL(consoleBroken, 0)')],
};

export type AlarmSpec = ReturnType<typeof complete>;

const complete = ({ periods = 1, ...row }: AlarmRow) => {
  const [breaching, of] = typeof periods === 'number' ? [periods, periods] : periods;
  return {
    severity: row.notifiedBy === undefined ? ('ticket' as const) : ('page' as const),
    ...{ breach: ['above', 0] as const, missing: 'notBreaching' as const, periodMinutes: 5 },
    ...{ ...row, periods: of, breaching },
  };
};

/** The alarms by the row of the dashboard that they belong to. */
export function alarmsByRow(input: AlarmInput) {
  const { answers, reading, ledger, rules } = admissionAlarms(input);
  const agreement = agreementAlarms(input);
  return {
    answers,
    reading,
    ledger,
    ends: endsOfJobsAlarms,
    agreement,
    rules,
    console: consoleAlarms(input),
  };
}

/** The alarms of a deployment. Those of AWS alone are left if there are no metrics of ours. */
export const alarmsFor = (input: AlarmInput): readonly AlarmSpec[] =>
  specsOf(Object.values(alarmsByRow(input)).flat(), input.metrics);

export const rolloutAlarms = (program: RolledOut, ownMetrics: boolean): readonly AlarmSpec[] =>
  specsOf(ROLLOUT_ROWS[program], ownMetrics);

const specsOf = (rows: readonly AlarmRow[], ownMetrics: boolean): readonly AlarmSpec[] =>
  rows.filter(({ formula }) => ownMetrics || !needsOwnMetrics(formula)).map(complete);

const ALWAYS_WRITTEN = [RELAY_METRIC.streamsOpen, FUNCTION_METRIC.directoryAgeSeconds];

/** For `tollgate cost`, which does not load the CDK. */
export function monitoringCounts(input: AlarmInput) {
  const rolledOut = ['admit', 'settle', ...(input.console ? ['console' as const] : [])] as const;
  const rollouts = rolledOut.flatMap((program) => rolloutAlarms(program, input.metrics));
  const alarms = [...alarmsFor(input), ...rollouts];
  return {
    /** Metrics written every hour. The others have values in hours with jobs or faults, and are billed by the hour. */
    customMetrics: input.metrics ? ALWAYS_WRITTEN.length : 0,
    hourlyMetrics: input.metrics ? FUNCTION_METRICS.length + RELAY_METRICS.length - ALWAYS_WRITTEN.length : 0,
    alarms: alarms.length,
    /** An alarm on arithmetic is billed for each of its metrics. */
    alarmMetrics: alarms.reduce((sum, { formula }) => sum + seriesIn(formula).length, 0),
    compositeAlarms: alarms.some(({ notifiedBy }) => notifiedBy !== undefined) ? 1 : 0,
    dashboards: 1,
  };
}
