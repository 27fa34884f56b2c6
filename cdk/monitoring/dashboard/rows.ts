import type { AlarmInput, AlarmSpec } from '../alarms/alarm-spec.ts';
import { answerAlarms } from '../alarms/answers.ts';
import { deskAlarms } from '../alarms/desk.ts';
import { endsOfJobsAlarms } from '../alarms/ends-of-jobs.ts';
import { readingAlarms } from '../alarms/reading.ts';
import { ruleAlarms } from '../alarms/rules.ts';
import { truthAlarms } from '../alarms/truth.ts';
import type { Graph, Row } from './panel.ts';
import * as queries from './queries.ts';
import { COST_PERIOD_MINUTES, usageCost } from './usage-cost.ts';

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
    { kind: 'top-ten', title: 'Rejections by rule', query: queries.REJECTIONS_BY_RULE },
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
    { kind: 'top-ten', title: 'Held for admitted jobs, by group', query: queries.SPEND_BY_GROUP },
    { kind: 'top-ten', title: 'Rejections by group', query: queries.REJECTIONS_BY_GROUP },
    {
      kind: 'top-ten',
      title: 'Shadow: would be rejected, by rule',
      query: queries.WOULD_BE_REJECTED_BY_RULE,
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
