/** An alarm's form, and the alarms of admissions: answers, the rules they rest on, the ledger, and the requests read. */
export interface AlarmRow {
  readonly name: string;
  /** Heading of its section in cdk/RUNBOOK.md. @default name */
  readonly runbook?: string;
  /** `page` alerts on-call; `ticket` can wait for the next morning. @default `page` if the composite sends it, else `ticket` */
  readonly severity?: 'page' | 'ticket';
  readonly says: string;
  /** Arithmetic on series, as CloudWatch writes it. */
  readonly formula: string;
  readonly label: string;
  /** @default 5 */
  readonly periodMinutes?: number;
  readonly breach?: readonly ['above' | 'below', number];
  /** Periods in a row that must breach, or a number of the last ones. @default 1 */
  readonly periods?: number | readonly [breaching: number, of: number];
  /** Treatment of a period without a value. RelayDisconnected and SweepFailing report silence. @default 'notBreaching' */
  readonly missing?: 'breaching' | 'notBreaching';
  /** Sent by the composite only, so that one outage is one page. */
  readonly notifiedBy?: typeof COMPOSITE.name;
  /** Title of its own graph; true: its label. Absent: it shares a graph of dashboard-rows.ts. */
  readonly graph?: string | true;
}

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
  says: 'GitLab gets no response, or one made without the ledger or the schema: jobs fail, or run without a limit.',
} as const;

/** A share of the deadline: what takes longer leaves no room for one bad moment. */
const LATENCY_SHARE_MAX = 0.75;
/** Per cent. One cold start a minute stays below it, a ledger that is down does not. */
const FALLBACK_SHARE_MAX = 10;

const relayMissing = (relays: number): AlarmRow => ({
  name: 'RelayMissing',
  says: `Fewer than ${relays} relays hold streams: if the remaining ones fail, GitLab fails every job of an enabled controller.`,
  // A relay without a stream is none, however alive. One with a stream writes one value a minute, so five in a period.
  // No value at all is RelayDisconnected alone.
  formula: 'relayMinutes / 5',
  label: 'Relays with streams',
  graph: true,
  // A minute's value may fall into the next period; half a relay is no relay too few.
  breach: ['below', relays - 0.5],
  periods: 3,
});

const answerAlarms = ({ relays, deadlineMs, failurePolicy }: AlarmInput): readonly AlarmRow[] => [
  {
    name: 'RelayDisconnected',
    says: 'No relay has a stream at the job router: GitLab fails every job it would ask about while the controller is enabled.',
    formula: 'streamsMost',
    label: 'Streams of the relay with the most',
    periodMinutes: 1,
    breach: ['below', 1],
    periods: 3,
    // Every relay with a stream says so each minute.
    missing: 'breaching',
    notifiedBy: COMPOSITE.name,
  },
  {
    name: 'FallbackShare',
    says:
      failurePolicy === 'admit'
        ? `More than ${FALLBACK_SHARE_MAX} % of the answers came without the ledger: jobs run past their limits.`
        : `More than ${FALLBACK_SHARE_MAX} % of the answers came without the ledger: jobs fail by our own fault.`,
    formula: 'IF(requests > 0, 100 * fallbackAnswers / requests, 0)',
    label: 'Answers without the ledger, % of requests',
    periodMinutes: 1,
    breach: ['above', FALLBACK_SHARE_MAX],
    periods: [3, 5],
    notifiedBy: COMPOSITE.name,
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

const ruleAlarms: readonly AlarmRow[] = [
  {
    name: 'LimitsUnreadable',
    says: 'Limits cannot be read, or a parameter with limits is invalid: the last valid ones stay in force.',
    formula: 'limitsUnreadable',
    label: 'Times the limits could not be read',
    graph: 'Limits',
    periods: [2, 3],
  },
  {
    name: 'RulesBehind',
    says: 'A function or relay has decided by older rules than the current ones for ten minutes or more.',
    formula: 'rulesBehindSeconds',
    label: 'Older rules in use for, seconds',
    graph: 'Older rules in use',
    breach: ['above', 599],
  },
  {
    name: 'RejectedShare',
    severity: 'page',
    says: 'More than half of all jobs were rejected for a quarter of an hour: an edit of limits, policy or rollout may be wrong.',
    formula: 'IF(requests >= 20, 100 * rejected / requests, 0)',
    label: 'Rejected jobs, % of requests',
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
    formula: 'IF(FILL(gitLabSilentRuns, 0) > 50, 0, directoryAgeSeconds)',
    label: 'Since all groups were listed, seconds',
    graph: 'Age of the directory',
    periodMinutes: 60,
    breach: ['above', 7_200],
    // Every run says how old it is, from the first complete listing on: no value is no run, or never a listing.
    missing: 'breaching',
  },
  {
    name: 'RelayDirectoryStale',
    says: 'A relay has not received the list of groups for half an hour: after an hour its fallback cannot evaluate rules by group.',
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
/** Fewer per hour are exceptions: on a site with few requests they are a large share. */
const UNREADABLE_MIN = 3;

const readingAlarms: readonly AlarmRow[] = [
  {
    name: 'SchemaSuspect',
    says: 'The job router seems to speak another schema than the descriptors of the relays: nothing is rejected.',
    formula: 'schemaSuspect',
    label: 'Schema is suspect, 1 or 0',
    graph: 'Schema',
    periodMinutes: 1,
    periods: 2,
    notifiedBy: COMPOSITE.name,
  },
  {
    name: 'OwnFaults',
    says: 'A bug in a relay stops a part of it: the affected jobs run past their limits.',
    formula: 'ownFaults',
    label: 'Mistakes of the relays themselves',
    graph: true,
    notifiedBy: COMPOSITE.name,
  },
  {
    name: 'UnreadableRequests',
    says: `More than ${UNREADABLE_SHARE_MAX} % of the requests of an hour could not be read: their jobs run unjudged and unrecorded.`,
    // SchemaSuspect already reports a bad schema, which makes most requests unreadable.
    formula: `IF(FILL(schemaSuspect, 0) < 1 && unreadableRequests >= ${UNREADABLE_MIN}, 100 * unreadableRequests / requests, 0)`,
    label: `Unreadable requests, %, from ${UNREADABLE_MIN} on`,
    periodMinutes: 60,
    breach: ['above', UNREADABLE_SHARE_MAX],
  },
  {
    name: 'RejectionsWithheld',
    says: 'Jobs that should be rejected are admitted: half an hour of requests has not proven the relays’ schema.',
    // SchemaSuspect already reports a bad schema, which withholds all rejections.
    formula: 'IF(FILL(schemaSuspect, 0) > 0, 0, rejectionsWithheld)',
    label: 'Rejections withheld',
    graph: true,
    periodMinutes: 15,
    periods: 2,
  },
  {
    name: 'AnswersRefused',
    says: 'The job router does not accept decisions of the relays: GitLab alone decides what happens to these jobs.',
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

export const admissionAlarms = (input: AlarmInput) => ({
  answers: answerAlarms(input),
  reading: readingAlarms,
  ledger: ledgerAlarms,
  rules: ruleAlarms,
});
