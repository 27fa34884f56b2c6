import { answerAlarms, ruleAlarms } from './alarms/admissions.ts';
import type { AlarmInput, AlarmSpec } from './alarms/alarm-spec.ts';
import { deskAlarms, endsOfJobsAlarms, readingAlarms, truthAlarms } from './alarms/programs.ts';
import type { ProgramName } from './series.ts';

// The dashboard as data: nothing here loads the CDK.

export interface GraphLine {
  /** Words of series.ts. */
  readonly formula: string;
  readonly label: string;
}

export interface Graph {
  readonly kind: 'graph';
  readonly title: string;
  /** Name of an alarm whose formula is shown as the first line, with its threshold. Its period is the graph's. */
  readonly alarm?: string;
  readonly lines?: readonly GraphLine[];
  /** Against the axis on the right. */
  readonly right?: readonly GraphLine[];
  readonly stacked?: boolean;
  /** @default the alarm's, else 5 */
  readonly periodMinutes?: number;
  /** Further values to compare with. */
  readonly marks?: readonly { readonly value: number; readonly label: string }[];
}

/** The ten rows with the most, from the relays' decision log: what has too many values for a metric. */
interface TopTen {
  readonly kind: 'top-ten';
  readonly title: string;
  readonly query: readonly string[];
}

interface Words {
  readonly kind: 'words';
  readonly title: string;
  readonly markdown: string;
}

export type Panel = Graph | TopTen | Words;

/** Panels side by side, below a line of text that says what the row is about and names its alarms. */
export interface Row {
  readonly title: string;
  readonly says: string;
  readonly panels: readonly Panel[];
}

/** CloudWatch Logs Insights queries on the decision log. Each returns at most ten rows. */
const MOST_FIRST = '| sort count desc | limit 10';

/** A repeat was already notified, e.g. before GitLab retried the job. */
const REJECTED = 'filter message = "decision" and outcome = "rejected" and notice = "first"';

const REJECTIONS_BY_RULE = [
  REJECTED,
  '| fields coalesce(rules.0, cause, "unknown") as rule',
  '| stats count(*) as count by rule',
  MOST_FIRST,
];

const WOULD_BE_REJECTED_BY_RULE = [
  'filter message = "decision" and ispresent(shadow.0)',
  '| fields shadow.0 as rule',
  '| stats count(*) as count by rule',
  MOST_FIRST,
];

/** Groups of jobs without a decision of the ledger are not known, their root is. */
const GROUP = '| fields coalesce(`group`, root, "unknown") as owner';

const REJECTIONS_BY_GROUP = [REJECTED, GROUP, '| stats count(*) as count by owner', MOST_FIRST];

/** Held amounts, in the deployment's currency. For the final cost use tollgate statement. */
const SPEND_BY_GROUP = [
  'filter message = "decision" and outcome = "admitted" and ispresent(costMicros)',
  GROUP,
  '| stats sum(costMicros / 1000000) as held, count(*) as jobs by owner',
  '| sort held desc | limit 10',
];

/** Rows in order of urgency: on-call reads from the top and stops at the first red one. */
export const rowsFor = (watched: AlarmInput): readonly Row[] => [
  answers(watched),
  relays(watched),
  reading,
  withoutTheLedger,
  endsOfJobs,
  truth(watched),
  rulesAndDirectory,
  desk(watched),
  groups,
  cost(watched),
];

/** Alarms with their own graph, as their specs declare. */
const ownGraphs = (alarms: readonly AlarmSpec[]): readonly Graph[] =>
  alarms.flatMap(({ name, graph }) =>
    graph === undefined ? [] : [{ kind: 'graph', title: graph, alarm: name }],
  );

const answers = ({ deadlineMs }: AlarmInput): Row => ({
  title: 'Answers',
  says: 'What GitLab asked and what it was told.',
  panels: [
    {
      kind: 'graph',
      title: 'Admissions by outcome',
      stacked: true,
      periodMinutes: 1,
      lines: [
        { formula: 'admitted', label: 'Admitted' },
        { formula: 'rejected', label: 'Rejected' },
      ],
      right: [{ formula: 'questions', label: 'Questions' }],
    },
    {
      kind: 'graph',
      title: 'From question to answer, ms',
      alarm: 'LatencyNearDeadline',
      lines: [{ formula: 'latencyMedian', label: 'p50' }],
      marks: [{ value: deadlineMs, label: 'Deadline: the fallback answers' }],
    },
    {
      kind: 'graph',
      title: 'Jobs that wait for room',
      lines: [{ formula: 'waiting', label: 'Most in one relay' }],
      right: [{ formula: 'waitMs', label: 'Waited, p99, ms' }],
    },
    { kind: 'top-ten', title: 'Rejections by rule', query: REJECTIONS_BY_RULE },
  ],
});

const relays = (watched: AlarmInput): Row => ({
  title: 'Relays',
  says: 'Somebody must hold streams, or GitLab fails jobs.',
  panels: [
    {
      kind: 'graph',
      title: 'Open streams',
      alarm: 'RelayDisconnected',
      lines: [{ formula: 'streamsFewest', label: 'Streams of the relay with the fewest' }],
      right: [{ formula: 'reconnects', label: 'Reconnects' }],
    },
    ...ownGraphs(answerAlarms(watched)),
    {
      kind: 'graph',
      title: 'Jobs per batch',
      lines: [
        { formula: 'batchJobs', label: 'Average' },
        { formula: 'batchJobsMost', label: 'Largest' },
      ],
    },
    {
      kind: 'graph',
      title: 'Busiest relay, %',
      lines: [
        { formula: 'relayCpu', label: 'CPU' },
        { formula: 'relayMemory', label: 'Memory' },
      ],
    },
  ],
});

const reading: Row = {
  title: 'Reading',
  says: 'Whether the relays understand what GitLab asks. Where they do not, nothing is rejected.',
  panels: [
    ...ownGraphs(readingAlarms),
    {
      kind: 'graph',
      title: 'Questions that could not be read',
      alarm: 'UnreadableQuestions',
      right: [{ formula: 'unreadable', label: 'Questions' }],
    },
  ],
};

const withoutTheLedger: Row = {
  title: 'Without the ledger',
  says: 'Answers that a relay gave by itself, and why it had to.',
  panels: [
    {
      kind: 'graph',
      title: 'Fallback answers',
      alarm: 'FallbackShare',
      right: [{ formula: 'fallbacks', label: 'Answers without the ledger' }],
    },
    {
      kind: 'graph',
      title: 'Fallback answers the ledger must still hear of',
      alarm: 'FallbackAnswersLost',
      right: [{ formula: 'unmeteredQueued', label: 'Waiting' }],
    },
    {
      kind: 'graph',
      title: 'Admit function',
      alarm: 'AdmitErrors',
      right: [{ formula: 'admitCalls', label: 'Calls' }],
    },
    {
      kind: 'graph',
      title: 'Table: throttles and conflicts',
      alarm: 'TableThrottled',
      lines: [
        { formula: 'conflicts', label: 'Conflicts' },
        { formula: 'ledgerRetries', label: 'Transactions tried again' },
      ],
    },
  ],
};

const endsOfJobs: Row = {
  title: 'Ends of jobs',
  says: 'Every hold ends with a webhook, or else with the sweep.',
  panels: [
    {
      kind: 'graph',
      title: 'Webhooks',
      alarm: 'WebhookSilence',
      right: [
        { formula: 'jobEvents', label: 'Ends told' },
        { formula: 'settleRefused', label: 'Refused: no proof, or too many at once' },
        { formula: 'settleBroken', label: 'Failed' },
        { formula: 'impossibleEnds', label: 'Ends that cannot be' },
      ],
    },
    {
      kind: 'graph',
      title: 'Settlement lag and readers of the stream',
      alarm: 'StreamBehind',
      lines: [{ formula: 'settlementLag', label: 'From end to charge, p99' }],
    },
    ...ownGraphs(endsOfJobsAlarms),
    {
      kind: 'graph',
      title: 'Errors of the other functions',
      stacked: true,
      periodMinutes: 15,
      lines: [
        { formula: 'settleErrors', label: 'settle' },
        { formula: 'settleThrottles', label: 'settle, throttled' },
        { formula: 'settleStreamErrors', label: 'settle-stream' },
        { formula: 'rollupErrors', label: 'rollup' },
        { formula: 'sweepErrors', label: 'sweep' },
        { formula: 'directoryErrors', label: 'directory' },
        { formula: 'ssmLimitsErrors', label: 'ssm-limits' },
        { formula: 'noticesErrors', label: 'notices' },
        { formula: 'consoleErrors', label: 'console' },
      ],
    },
  ],
};

const truth = (watched: AlarmInput): Row => ({
  title: 'Truth',
  says: 'Whether the books agree with GitLab and with themselves.',
  panels: [
    {
      kind: 'graph',
      title: 'Sweep',
      alarm: 'SweepFailing',
      right: [{ formula: 'healedBySweep', label: 'Holds that no webhook had ended' }],
    },
    {
      kind: 'graph',
      title: 'Holds',
      alarm: 'HoldsOverdue',
      right: [{ formula: 'liveHolds', label: 'Live holds' }],
    },
    {
      kind: 'graph',
      title: 'Jobs nobody admitted',
      alarm: 'UnadmittedShare',
      right: [
        { formula: 'bypassJobs', label: 'Jobs without an admission' },
        { formula: 'outOfScopeJobs', label: 'Out of scope, not charged' },
      ],
    },
    ...ownGraphs(truthAlarms(watched)),
  ],
});

const rulesAndDirectory: Row = {
  title: 'Rules and directory',
  says: 'What decisions rest on.',
  panels: ownGraphs(ruleAlarms),
};

const desk = (watched: AlarmInput): Row => ({
  title: 'Desk',
  says: 'Where people see and change limits.',
  panels: [
    ...ownGraphs(deskAlarms(watched)),
    {
      kind: 'graph',
      title: 'Console: requests',
      lines: [{ formula: 'consoleCalls', label: 'Requests' }],
      right: [
        { formula: 'consoleRefused', label: 'Refused' },
        { formula: 'consoleThrottles', label: 'Throttled' },
      ],
    },
    {
      kind: 'graph',
      title: 'Console: from request to answer, ms',
      lines: [{ formula: 'consoleMsP99', label: 'p99' }],
    },
  ],
});

const groups: Row = {
  title: 'Groups',
  says: 'The ten with the most, in the time that the dashboard shows. Each look reads the decision log, which AWS bills by the GB.',
  panels: [
    { kind: 'top-ten', title: 'Held for admitted jobs, by group', query: SPEND_BY_GROUP },
    { kind: 'top-ten', title: 'Rejections by group', query: REJECTIONS_BY_GROUP },
    {
      kind: 'top-ten',
      title: 'Shadow: would be rejected, by rule',
      query: WOULD_BE_REJECTED_BY_RULE,
    },
  ],
};

const cost = (watched: AlarmInput): Row => ({
  title: 'Cost of Tollgate itself',
  says: 'What a month of hours like this one would cost, from AWS’s own counts and the list prices of us-east-1.',
  panels: [
    {
      kind: 'graph',
      title: 'US dollars a month, what depends on use',
      stacked: true,
      periodMinutes: COST_PERIOD_MINUTES,
      lines: usageCost(watched),
    },
    {
      kind: 'words',
      title: 'And what does not',
      markdown: [
        'Relays, their addresses, metrics, alarms, keys and what runs by the clock cost the same every month:',
        '',
        '`npx tollgate cost --jobs-per-month 100000`',
        '',
        'lists every line of both, with the source and date of each price. For the real bill, activate the tag',
        '`tollgate:stage` as a cost allocation tag and group by it in the Cost Explorer.',
      ].join('\n'),
    },
  ],
});

const MILLION = 1_000_000;

/**
 * US dollars for one unit, as in scripts/cli/cost/prices.ts, which has sources and dates; a test keeps them equal. Synth may
 * not load that file.
 */
export const USAGE_PRICES = {
  writeUnit: 0.625 / MILLION,
  readUnit: 0.125 / MILLION,
  lambdaRequest: 0.2 / MILLION,
  lambdaGbSecond: 13.3334 / MILLION,
  logGb: 0.5,
} as const;

/**
 * Memory of the functions; a test compares it with the constructs. Scheduled functions cost the same at any
 * load.
 */
export const MEMORY_MIB = {
  admit: 512,
  settle: 256,
  'settle-stream': 512,
  rollup: 512,
  sweep: 512,
  directory: 512,
  'ssm-limits': 1024,
  console: 512,
} as const satisfies Partial<Record<ProgramName, number>>;

const HOURS_PER_MONTH = 730;
const COST_PERIOD_MINUTES = 60;

/** CloudWatch's arithmetic knows no exponents. */
const decimal = (value: number): string => value.toFixed(12).replace(/0+$/, '').replace(/\.$/, '');
const perMonth = (usd: number): string => decimal(usd * HOURS_PER_MONTH);
/** Fills gaps with 0: a series may be silent for an hour. */
const sumOf = (names: readonly string[]): string => names.map((name) => `FILL(${name}, 0)`).join(' + ');
const gbSeconds = (series: string, program: keyof typeof MEMORY_MIB): string =>
  `FILL(${series}, 0) * ${decimal(MEMORY_MIB[program] / 1024 / 1000)}`;

const CALLS = ['admitCalls', 'settleCalls', 'settleStreamCalls', 'rollupCalls'];
const LOGS = ['relayLogBytes', 'admitLogBytes', 'settleLogBytes', 'settleStreamLogBytes', 'rollupLogBytes'];

/** Monthly cost of each part at this hour's rate. */
const usageCost = ({ console }: Pick<AlarmInput, 'console'>): readonly GraphLine[] => [
  {
    label: 'Table, writes',
    formula: `(${sumOf(['writeUnits', 'indexWriteUnits'])}) * ${perMonth(USAGE_PRICES.writeUnit)}`,
  },
  {
    label: 'Table, reads',
    formula: `(${sumOf(['readUnits', 'indexReadUnits'])}) * ${perMonth(USAGE_PRICES.readUnit)}`,
  },
  {
    label: 'Functions, time',
    formula: `(${[
      gbSeconds('admitMs', 'admit'),
      gbSeconds('settleMs', 'settle'),
      gbSeconds('settleStreamMs', 'settle-stream'),
      gbSeconds('rollupMs', 'rollup'),
      gbSeconds('sweepMs', 'sweep'),
      gbSeconds('directoryMs', 'directory'),
      gbSeconds('ssmLimitsMs', 'ssm-limits'),
      ...(console ? [gbSeconds('consoleMs', 'console')] : []),
    ].join(' + ')}) * ${perMonth(USAGE_PRICES.lambdaGbSecond)}`,
  },
  {
    label: 'Functions, calls',
    formula: `(${sumOf([...CALLS, ...(console ? ['consoleCalls'] : [])])}) * ${perMonth(USAGE_PRICES.lambdaRequest)}`,
  },
  {
    label: 'Logs',
    formula: `(${sumOf([...LOGS, ...(console ? ['consoleLogBytes'] : [])])}) * ${perMonth(USAGE_PRICES.logGb / 1e9)}`,
  },
];
