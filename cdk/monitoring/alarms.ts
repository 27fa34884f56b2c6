import { FUNCTION_METRICS } from '../../functions/names.ts';
import { RELAY_METRICS, RELAY_WAITING_METRICS } from '../../relay/names.ts';
import { needsOwnMetrics, seriesIn } from './series.ts';

export interface AlarmRow {
  /** Heading of its section in cdk/RUNBOOK.md. */
  readonly name: string;
  /** `page` alerts on-call; `ticket` can wait for the next morning. @default `page` if the composite sends it, else `ticket` */
  readonly severity?: 'page' | 'ticket';
  readonly says: string;
  /** Arithmetic on series, as CloudWatch writes it. */
  readonly formula: string;
  readonly label: string;
  /** @default 5 */
  readonly periodMinutes?: number;
  readonly breach?: readonly ['above' | 'below', number];
  /** Number of periods to look at, all of which must breach, or the number that must of how many. @default 1 */
  readonly periods?: number | readonly [breaching: number, of: number];
  /**
   * Treatment of a period without a value. Most metrics are written only when something happens, or by relays and sweeps, whose
   * silence RelayDisconnected and SweepFailing report. @default 'notBreaching'
   */
  readonly missing?: 'breaching' | 'notBreaching';
  /** Sent by the composite only, so that one outage is one page. */
  readonly toldBy?: typeof COMPOSITE.name;
  /**
   * Title of its own graph, in the row of the alarms it is listed with; true: its label. Absent: it shares a graph of
   * dashboard-rows.ts.
   */
  readonly graph?: string | true;
}

export type AlarmSpec = ReturnType<typeof complete>;

const complete = ({ periods = 1, ...row }: AlarmRow) => {
  const [breaching, of] = typeof periods === 'number' ? [periods, periods] : periods;
  return {
    severity: row.toldBy === undefined ? ('ticket' as const) : ('page' as const),
    ...{ breach: ['above', 0] as const, missing: 'notBreaching' as const, periodMinutes: 5 },
    ...{ ...row, periods: of, breaching },
  };
};

export interface AlarmInput {
  readonly relays: number;
  readonly deadlineMs: number;
  readonly failurePolicy: 'admit' | 'reject';
  readonly watchdog: boolean;
  readonly console: boolean;
  readonly requeue?: boolean;
  /** Minutes between notices to owners; 0: none. */
  readonly noticesMinutes: number;
  readonly metrics: boolean;
}

/** The page: whichever of its alarms is on. */
export const COMPOSITE = {
  name: 'AdmissionsNotAnswered',
  severity: 'page',
  says: 'Nobody answers GitLab, or nobody who can read and count: jobs fail, or run without a limit.',
} as const;

/** A share of the deadline: what takes longer leaves no room for one bad moment. */
const LATENCY_SHARE_MAX = 0.75;
/** Per cent. One cold start a minute stays below it, a ledger that is down does not. */
const FALLBACK_SHARE_MAX = 10;

const relayMissing = (relays: number): AlarmRow => ({
  name: 'RelayMissing',
  says: `Fewer than ${relays} relays hold streams: the next one that fails takes admissions with it.`,
  // A relay without a stream is none, however alive. One value a relay and minute, so five for each in a period.
  // None with a stream anywhere is RelayDisconnected alone.
  formula: `IF(streamsMost < 1, ${relays}, IF(streamsOpen < 1, relayMinutes / 5 - 1, relayMinutes / 5))`,
  label: 'Relays with streams',
  graph: true,
  // A minute's value may fall into the next period; half a relay is no relay too few.
  breach: ['below', relays - 0.5],
  periods: 3,
});

export const answerAlarms = ({ relays, deadlineMs, failurePolicy }: AlarmInput): readonly AlarmRow[] => [
  {
    name: 'RelayDisconnected',
    says: 'No relay has a stream at the job router: GitLab fails every job it would ask about while the controller is enabled.',
    formula: 'streamsMost',
    label: 'Streams of the relay with the most',
    periodMinutes: 1,
    breach: ['below', 1],
    periods: 3,
    // Every relay says how many it has each minute: one that says nothing is one that is gone.
    missing: 'breaching',
    toldBy: COMPOSITE.name,
  },
  {
    name: 'FallbackShare',
    says:
      failurePolicy === 'admit'
        ? `More than ${FALLBACK_SHARE_MAX} % of the answers came without the ledger: jobs run past their limits.`
        : `More than ${FALLBACK_SHARE_MAX} % of the answers came without the ledger: jobs fail by our own fault.`,
    formula: 'IF(questions > 0, 100 * fallbackAnswers / questions, 0)',
    label: 'Answers without the ledger, % of questions',
    periodMinutes: 1,
    breach: ['above', FALLBACK_SHARE_MAX],
    periods: [3, 5],
    toldBy: COMPOSITE.name,
  },
  ...(relays > 1 ? [relayMissing(relays)] : []),
  {
    name: 'LatencyNearDeadline',
    says: `One answer in a hundred takes more than ${LATENCY_SHARE_MAX * 100} % of the ${deadlineMs} ms it may take.`,
    formula: 'answerLatencyMs',
    label: 'p99',
    breach: ['above', deadlineMs * LATENCY_SHARE_MAX],
    periods: 3,
  },
  {
    name: 'FallbackAnswersLost',
    says: 'Answers that a relay gave without the ledger never reached it: those jobs are charged only when they end, as bypass.',
    formula: 'unmeteredDropped',
    label: 'Fallback answers lost',
  },
];

export const ruleAlarms: readonly AlarmRow[] = [
  {
    name: 'LimitsUnreadable',
    says: 'Limits cannot be read, or a parameter with limits is invalid: the last valid ones stay in force.',
    formula: 'limitsUnreadable',
    label: 'Times the limits could not be read',
    graph: 'Limits',
    periods: [2, 3],
  },
  {
    name: 'RejectedShare',
    severity: 'page',
    says: 'More than half of all jobs were rejected for a quarter of an hour: an edit of limits, policy or rollout may be wrong.',
    formula: 'IF(questions >= 20, 100 * rejected / questions, 0)',
    label: 'Rejected jobs, % of questions',
    graph: 'Rejected share',
    periodMinutes: 15,
    breach: ['above', 50],
  },
  {
    name: 'UnknownGroups',
    says: 'Jobs come from groups that are not in the directory: only some of their limits apply.',
    formula: 'unknownGroups',
    label: 'Admissions of unknown groups',
    graph: 'Groups not in the directory',
    periodMinutes: 60,
    // A new group is unknown until the next sync, a few minutes.
    breach: ['above', 20],
    periods: 2,
  },
  {
    name: 'DirectoryStale',
    says: 'The groups of GitLab have not been listed to their end for two hours: groups that moved keep their old limits.',
    // A GitLab that answered no sweep for an hour lists no groups, either: that is SweepFailing alone.
    formula: 'IF(FILL(gitlabSilentThroughout, 0) > 0, 0, directoryAgeSeconds)',
    label: 'Since all groups were listed, seconds',
    graph: 'Age of the directory',
    periodMinutes: 60,
    breach: ['above', 7_200],
    // Every run says how old it is, from the first complete listing on: no value is no run, or never a listing.
    missing: 'breaching',
  },
  {
    name: 'RelayDirectoryStale',
    says: 'A relay has not received the list of groups for half an hour: after an hour its fallback cannot tell rules by group.',
    // A relay's directory is never newer than the table's; DirectoryStale reports an old table.
    formula: 'IF(FILL(directoryAgeSeconds, 3600) > 1800, 0, relayDirectoryAgeSeconds)',
    label: 'Age of the oldest list of groups in a relay, seconds',
    graph: 'Age of the directory in relays',
    // Two listings in it, so that the clock's own jitter leaves none empty.
    periodMinutes: 10,
    breach: ['above', 1_800],
    periods: 2,
  },
];

/** The admit function and its table, by AWS's own metrics: they cost nothing and are there when ours are not. */
const ledgerAlarms: readonly AlarmRow[] = [
  {
    name: 'AdmitErrors',
    says: 'The admit function fails or is throttled; relays answer such batches by themselves.',
    // A function that is only throttled has no errors to count.
    formula: 'FILL(admitErrors, 0) + FILL(admitThrottles, 0)',
    label: 'Errors and throttles of the admit function',
    breach: ['above', 4],
    periods: [2, 3],
  },
  {
    name: 'TableThrottled',
    says: 'DynamoDB throttles the table: admissions are tried again and take longer.',
    // Each is written only while it happens, so either may be absent.
    formula: 'FILL(readThrottles, 0) + FILL(writeThrottles, 0)',
    label: 'Throttled reads and writes',
    // A table that grows throttles for a moment, and the ledger tries again; this is one a second.
    breach: ['above', 300],
    periods: [2, 3],
  },
];

/** Per cent. An odd job stays below it; a field that GitLab moved does not. */
const UNREADABLE_SHARE_MAX = 5;
/** Fewer per hour are exceptions, whatever their share, on a site with few requests. */
const UNREADABLE_MIN = 3;

export const readingAlarms: readonly AlarmRow[] = [
  {
    name: 'SchemaSuspect',
    says: 'The job router seems to speak another schema than the descriptors of the relays: nothing is rejected.',
    formula: 'schemaSuspect',
    label: 'Schema is suspect, 1 or 0',
    graph: 'Schema',
    periodMinutes: 1,
    periods: 2,
    toldBy: COMPOSITE.name,
  },
  {
    name: 'OwnFaults',
    says: 'A part of a relay fails by its own mistake: the jobs it concerns run past their limits.',
    formula: 'ownFaults',
    label: 'Mistakes of the relays themselves',
    graph: true,
    toldBy: COMPOSITE.name,
  },
  {
    name: 'UnreadableQuestions',
    says: `More than ${UNREADABLE_SHARE_MAX} % of the questions of an hour could not be read: their jobs run unjudged and unrecorded.`,
    // SchemaSuspect already reports a bad schema, which makes most requests unreadable.
    formula: `IF(schemaSuspect < 1 && unreadableQuestions >= ${UNREADABLE_MIN}, 100 * unreadableQuestions / questions, 0)`,
    label: `Unreadable questions, %, from ${UNREADABLE_MIN} on`,
    periodMinutes: 60,
    breach: ['above', UNREADABLE_SHARE_MAX],
  },
  {
    name: 'RejectionsWithheld',
    says: 'For longer than a start takes, jobs are admitted that would be rejected if the schema of the relays were proven.',
    // SchemaSuspect already reports a bad schema, which withholds all rejections.
    formula: 'IF(schemaSuspect > 0, 0, rejectionsWithheld)',
    label: 'Rejections withheld',
    graph: true,
    periodMinutes: 15,
    periods: 2,
  },
  {
    name: 'AnswersRefused',
    says: 'The job router does not accept decisions of the relays: what becomes of these jobs is GitLab’s own choice.',
    formula: 'answersRefused',
    label: 'Decisions not accepted',
    graph: true,
    periodMinutes: 15,
  },
  {
    name: 'FieldsMissing',
    says: 'Rules need fields that GitLab does not send, or not any more: they follow their on_missing for every job.',
    formula: 'fieldsMissing',
    label: 'Fields that rules need and that do not come',
    graph: true,
    periodMinutes: 15,
  },
];

/** The ledger agrees with GitLab and with its own records. */
export const truthAlarms = ({ watchdog }: AlarmInput): readonly AlarmRow[] => [
  {
    name: 'SweepFailing',
    says: 'The sweep has not run, or GitLab has not answered it, for a quarter of an hour: leaked holds stay.',
    formula: 'gitLabSilent',
    label: 'GitLab did not answer the sweep',
    periods: 3,
    // It runs every minute and says 0 or 1 each time: no value is no run, or one that crashed.
    missing: 'breaching',
  },
  {
    name: 'HoldsOverdue',
    says: 'A hold that ought to have ended is half an hour overdue: a budget shows more held than there is.',
    formula: 'oldestDueAgeSeconds',
    label: 'Age of the oldest overdue hold, seconds',
    periodMinutes: 10,
    breach: ['above', 1_800],
    periods: 3,
  },
  {
    name: 'Drift',
    says: 'The recount did not run, failed, is late, or found counters that do not show what their records make.',
    formula: [
      // The sweep runs each minute: a full day of runs without a drift count means that the recount is missing
      // or late.
      'IF(FILL(sweepRuns, 0) > 1440, FILL(driftedCounters, 1), FILL(driftedCounters, 0))',
      'FILL(driftErrors, 0)',
    ].join(' + '),
    label: 'Counters that drift, and recounts that failed or did not run',
    graph: 'Drift, by day',
    // A round takes a day and at most an hour more.
    periodMinutes: 26 * 60,
  },
  {
    name: 'HealthProblems',
    says: 'The hourly look found something that no other alarm tells of (tokens, licence, webhooks, clocks, scope, GitLab newer than its descriptors), or has not run twice.',
    // Two looks in a period: after as many minutes of sweeps a period without a look is one that was missed.
    formula: 'IF(FILL(sweepRuns, 0) > 100, FILL(healthProblems, 1), FILL(healthProblems, 0))',
    label: 'Found by the hourly look, or no look',
    graph: 'Found by the hourly look',
    periodMinutes: 120,
  },
  {
    name: 'UnadmittedShare',
    says: 'More than 5 % of the jobs that ran had not been admitted: runners or flags pass Tollgate by.',
    formula: 'IF(ranJobs > 20, 100 * bypassJobs / ranJobs, 0)',
    label: 'Jobs without an admission, % of those that ran',
    periodMinutes: 60,
    breach: ['above', 5],
  },
  // AWS's metric: it must not depend on anything of ours.
  ...(watchdog
    ? [
        {
          name: 'WatchdogFailing',
          says: 'The watchdog does not run, or could not reach GitLab when it had to: nobody would disarm the controller.',
          formula: 'watchdogErrors',
          label: 'Errors of the watchdog',
          graph: 'Watchdog',
          periods: 3,
          // Lambda counts the errors of each run, zero included, and it runs every minute: no value is no run.
          missing: 'breaching',
        } satisfies AlarmRow,
      ]
    : []),
];

/** Stands for an age where a reader reads nothing, so that there is none. */
const UNREAD_SECONDS = 3_600;

/** From a job's end to its charge: webhook, inbox, stream. */
export const endsOfJobsAlarms: readonly AlarmRow[] = [
  {
    name: 'WebhookSilence',
    says: 'Jobs are admitted, but their ends hardly arrive: GitLab tells none, deliveries are refused, or nobody reads the inbox. Holds wait for the sweep.',
    formula: [
      // A hundred an hour is more than attackers try, and each may have been the end of a job.
      'IF(FILL(settleRefused, 0) + FILL(settleBroken, 0) > 100, 0,',
      // A reader that is five minutes behind is StreamBehind alone.
      'IF(FILL(settleAge, 0) > 300000, 100,',
      // Every admitted job ends once. Twenty an hour: with fewer, an hour without an end says nothing.
      'IF(FILL(admitted, 0) > 20, 100 * FILL(jobEvents, 0) / FILL(admitted, 1), 100)))',
    ].join(' '),
    label: 'Ends told by webhook, % of admissions; 0: refused',
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
    says: 'A reader of the table’s stream gave up on something.',
    formula: 'FILL(settleLetters, 0) + FILL(rollupLetters, 0)',
    label: 'Dead letters that wait',
    graph: 'Dead letters',
    periodMinutes: 15,
  },
  {
    name: 'RollupLeavesOut',
    says: 'Owners of limits could not be told of a threshold, or the stream has items that nobody can read.',
    formula: 'rollupLeftOut',
    label: 'Items passed over and counters not told of',
    graph: 'Left out of usage and mails',
    // A topic that refuses once takes the same with the next batch.
    periods: [2, 3],
  },
  {
    name: 'AdmittedYetFailed',
    severity: 'page',
    says: 'Jobs fail that were admitted: GitLab reads our answers otherwise than they are meant, or somebody else refuses them.',
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
export function deskAlarms({ noticesMinutes, requeue, console }: AlarmInput): readonly AlarmRow[] {
  const isRare = noticesMinutes > PERIOD_MINUTES;
  const failing: AlarmRow = {
    name: 'DeskFailing',
    says: 'People cannot see or change limits or are not told: the console breaks, or what runs for limits and retries by the clock fails or does not run.',
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
    says: 'Owners of limits are not told what happened to them: the program that does has missed two of its times.',
    // A whole period of runs of the other program by the clock: so long the deployment is there.
    formula: `IF(FILL(ssmLimitsCalls, 0) < ${runs}, 1, FILL(noticesCalls, 0))`,
    label: 'Times that owners were told what happened',
    graph: 'Times that owners were told',
    periodMinutes,
    breach: ['below', 1],
  };
  return [failing, silent];
}

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
