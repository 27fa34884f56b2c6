import type { AlarmInput } from './admission-alarms.ts';
import { alarmsByRow } from './alarms.ts';

export type GraphLines = Readonly<Record<string, string>>;

export interface Graph {
  readonly kind: 'graph';
  readonly title: string;
  /** Name of an alarm whose formula is shown as the first line, with its threshold. Its period is the graph's. */
  readonly alarm?: string;
  readonly lines?: GraphLines;
  readonly right?: GraphLines;
  readonly stacked?: boolean;
  readonly periodMinutes?: number;
  readonly marks?: readonly { readonly value: number; readonly label: string }[];
}

/** The ten rows with the most, from the relays' decision log: what has too many values for a metric. */
interface TopTen {
  readonly kind: 'top-ten';
  readonly title: string;
  readonly query: readonly string[];
}

export type Panel = Graph | TopTen;

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

const BY_RULE = ['| stats count(*) as count by rule', MOST_FIRST];

/** Groups of jobs without a decision of the ledger are not known, their root is. */
const GROUP = '| fields coalesce(`group`, root, "unknown") as owner';

const graph = (title: string, more: Omit<Graph, 'kind' | 'title'>): Graph => ({
  kind: 'graph',
  title,
  ...more,
});

const topTen = (title: string, ...query: readonly string[]): TopTen => ({ kind: 'top-ten', title, query });

/** Graphs that the alarms of a row ask for. */
const ownGraphs = (row: keyof ReturnType<typeof alarmsByRow>, input: AlarmInput): readonly Graph[] =>
  alarmsByRow(input)[row].flatMap(({ name, label, graph: title }) =>
    title === undefined ? [] : [graph(title === true ? label : title, { alarm: name })],
  );

/** Rows in order of urgency: on-call reads from the top and stops at the first red one. */
export const rowsFor = (input: AlarmInput): readonly Row[] => [
  {
    title: 'Answers',
    says: 'Admission requests of GitLab and the responses.',
    panels: [
      graph('Admissions by outcome', {
        ...{ stacked: true, periodMinutes: 1, lines: { admitted: 'Admitted', rejected: 'Rejected' } },
        right: { requests: 'Requests' },
      }),
      graph('From request to response, ms', {
        ...{ alarm: 'LatencyNearDeadline', lines: { latencyMedian: 'p50' } },
        marks: [{ value: input.deadlineMs, label: 'Deadline: the fallback answers' }],
      }),
      graph('Jobs that wait for room', {
        ...{ lines: { waiting: 'Most in one relay' }, right: { waitMs: 'Waited, p99, ms' } },
      }),
      topTen(
        'Rejections by rule',
        REJECTED,
        '| fields coalesce(rules.0, cause, "unknown") as rule',
        ...BY_RULE,
      ),
    ],
  },
  {
    title: 'Relays',
    says: 'Without open streams GitLab fails jobs.',
    panels: [
      graph('Open streams', {
        ...{ alarm: 'RelayDisconnected', right: { reconnects: 'Reconnects' } },
        lines: { streamsOpen: 'Streams of the relay with the fewest' },
      }),
      ...ownGraphs('answers', input),
      graph('Jobs per batch', { lines: { batchJobs: 'Average', batchJobsMost: 'Largest' } }),
      graph('Busiest relay, %', { lines: { relayCpu: 'CPU', relayMemory: 'Memory' } }),
    ],
  },
  {
    title: 'Reading',
    says: 'Admission requests that the relays could read. Relays with a suspect schema reject no job.',
    panels: [
      ...ownGraphs('reading', input),
      graph('Requests that could not be read', {
        ...{ alarm: 'UnreadableRequests', right: { unreadableRequests: 'Requests' } },
      }),
    ],
  },
  {
    title: 'Without the ledger',
    says: 'Decisions that a relay made without the ledger, by cause.',
    panels: [
      graph('Fallback answers', {
        ...{ alarm: 'FallbackShare', right: { fallbackAnswers: 'Answers without the ledger' } },
      }),
      graph('Fallback answers the ledger must still hear of', {
        ...{ alarm: 'FallbackAnswersLost', right: { unmeteredQueued: 'Waiting' } },
      }),
      graph('Admit function', { alarm: 'AdmitErrors', right: { admitCalls: 'Calls' } }),
      graph('Table: throttles and conflicts', {
        alarm: 'TableThrottled',
        lines: { conflicts: 'Conflicts', ledgerRetries: 'Transactions tried again' },
      }),
    ],
  },
  {
    title: 'Ends of jobs',
    says: 'Every hold ends with a webhook, or else with the sweep.',
    panels: [
      graph('Webhooks', {
        alarm: 'WebhookSilence',
        right: {
          jobEvents: 'Ends received',
          settleRefused: 'Refused: no proof, or too many',
          settleBroken: 'Failed',
          impossibleEnds: 'Ends that cannot be',
        },
      }),
      graph('Settlement lag and readers of the stream', {
        ...{ alarm: 'StreamBehind', lines: { settlementLagSeconds: 'From end to charge, p99' } },
      }),
      ...ownGraphs('ends', input),
      graph('Errors of the other functions', {
        ...{ stacked: true, periodMinutes: 15 },
        lines: {
          ...{ settleErrors: 'settle', settleThrottles: 'settle, throttled' },
          ...{ settleStreamErrors: 'settle-stream', rollupErrors: 'rollup', sweepErrors: 'sweep' },
          ...{ directoryErrors: 'directory', ssmLimitsErrors: 'ssm-limits', noticesErrors: 'notices' },
          consoleErrors: 'console',
        },
      }),
    ],
  },
  {
    title: 'Truth',
    says: 'Agreement of the ledger with GitLab and with its records.',
    panels: [
      graph('Sweep', {
        ...{ alarm: 'SweepFailing', right: { healedBySweep: 'Holds that no webhook had ended' } },
      }),
      graph('Holds', { alarm: 'HoldsOverdue', right: { liveHolds: 'Live holds' } }),
      graph('Jobs without admission', {
        alarm: 'UnadmittedShare',
        right: { bypassJobs: 'Jobs without an admission', outOfScopeJobs: 'Out of scope, not charged' },
      }),
      ...ownGraphs('agreement', input),
    ],
  },
  {
    title: 'Rules and directory',
    says: 'Data that decisions use.',
    panels: ownGraphs('rules', input),
  },
  {
    title: 'Console and limits',
    says: 'Console, API and edits of limits.',
    panels: [
      ...ownGraphs('console', input),
      graph('Console: requests', {
        lines: { consoleCalls: 'Requests' },
        right: { consoleRefused: 'Refused', consoleThrottles: 'Throttled' },
      }),
      graph('Console: from request to answer, ms', { lines: { consoleMsP99: 'p99' } }),
    ],
  },
  {
    title: 'Groups',
    says: 'The ten with the most, in the time that the dashboard shows. Each look reads the decision log, which AWS bills by the GB.',
    panels: [
      // Held amounts, in the deployment's currency. For the final cost use tollgate statement.
      topTen(
        'Held for admitted jobs, by group',
        'filter message = "decision" and outcome = "admitted" and ispresent(costMicros)',
        GROUP,
        '| stats sum(costMicros / 1000000) as held, count(*) as jobs by owner',
        '| sort held desc | limit 10',
      ),
      topTen('Rejections by group', REJECTED, GROUP, '| stats count(*) as count by owner', MOST_FIRST),
      topTen(
        'Shadow: would be rejected, by rule',
        'filter message = "decision" and ispresent(shadow.0)',
        '| fields shadow.0 as rule',
        ...BY_RULE,
      ),
    ],
  },
];
