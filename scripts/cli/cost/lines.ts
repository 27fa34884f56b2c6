import { mendedMs } from '../../../functions/core/ledger/checkpoints.ts';
import { roundMs } from '../../../functions/core/ledger/recount-round.ts';
import * as assumed from './assumptions.ts';
import type { CostQuestion } from './costing.ts';
import type { PriceName, Prices } from './prices.ts';
import type { DeskUnits, JobUnits, VisitUnits } from './units.ts';

/** Part of a line. `always` is fixed; `desk` depends on visits; the others are per admission. */
export type CostPart = 'always' | 'desk' | 'admission' | 'usage' | 'kept';

/** quantity × unit price = amount. */
export interface CostLine {
  readonly part: CostPart;
  readonly label: string;
  /** A month for what is always there and for the desk; per admission otherwise. */
  readonly quantity: number;
  readonly price: PriceName;
}

export const dollars = ({ quantity, price }: CostLine, prices: Prices): number =>
  (quantity * prices[price].usd) / prices[price].per;

export const lineSum = (lines: readonly CostLine[], prices: Prices): number =>
  lines.reduce((total, line) => total + dollars(line, prices), 0);

// Monthly fixed costs.

const GIGA = 1_000_000_000;

export function alwaysLines(
  deployed: assumed.DeploymentShape,
  { parameterRun, noticesRun }: Pick<DeskUnits, 'parameterRun' | 'noticesRun'>,
): readonly CostLine[] {
  const always = (label: string, quantity: number, price: PriceName): CostLine =>
    line('always', label, quantity, price);
  const { relays, watchdog, console } = deployed;
  const monitoring = assumed.monitoringOf(deployed);
  const relayHours = relays * assumed.HOURS_PER_MONTH;
  const scheduled = scheduledFunctions(watchdog);
  const starts = scheduled.reduce((total, name) => total + assumed.STARTS_PER_MONTH[name], 0);
  const heartbeats = watchdog ? relays * assumed.HEARTBEATS_PER_MINUTE * assumed.MINUTES_PER_MONTH : 0;
  const ssmRuns = assumed.STARTS_PER_MONTH['ssm-limits'];
  const parameters =
    assumed.PARAMETERS +
    (watchdog ? assumed.PARAMETERS_OF.watchdog : 0) +
    (console ? assumed.PARAMETERS_OF.console : 0);
  const messages = assumed.ALARM_MESSAGES + assumed.THRESHOLD_MESSAGES + assumed.NOTICE_MESSAGES;
  const logGb = alwaysLogBytes(deployed, starts) / GIGA;
  return [
    always('Relays, CPU', relayHours * assumed.RELAY_VCPU, 'fargateCpu'),
    always('Relays, memory', relayHours * assumed.RELAY_GB, 'fargateMemory'),
    ...networkLines(deployed, relayHours, logGb).map(([label, quantity, price]) =>
      always(label, quantity, price),
    ),
    ...(deployed.builtImage ? [always('Relay image in ECR', assumed.IMAGE_GB, 'imageStorage')] : []),
    always('Custom metrics', monitoring.customMetrics, 'metric'),
    always('Metrics that alarms look at', monitoring.alarmMetrics, 'alarm'),
    always('Composite alarms', monitoring.compositeAlarms, 'compositeAlarm'),
    always('Dashboard, one of the first 3', monitoring.dashboards, 'dashboard'),
    ...scheduled.map((name) =>
      always(`Lambda ${name}, duration`, assumed.STARTS_PER_MONTH[name] * gbSeconds(name), 'lambdaDuration'),
    ),
    always('Lambda by the clock, requests', starts, 'lambdaRequest'),
    always('EventBridge, starts', starts, 'scheduledStart'),
    always(
      'Writes of sweep and directory',
      tableUnits(assumed.SWEEP_WRITES, assumed.DIRECTORY_WRITES),
      'writeUnit',
    ),
    always(
      'Reads of sweep and directory',
      tableUnits(assumed.SWEEP_READS, assumed.DIRECTORY_READS),
      'readUnit',
    ),
    always(
      'Reads of ssm-limits and notices',
      parameterRun.readUnits * ssmRuns + noticesRun.readUnits * assumed.STARTS_PER_MONTH.notices,
      'readUnit',
    ),
    always('SSM calls, standard throughput', parameterRun.calls * ssmRuns, 'parameterCall'),
    ...(watchdog
      ? [
          always(
            'Writes of heartbeat, watchdog',
            heartbeats + perMinute(assumed.WATCHDOG_WRITES),
            'writeUnit',
          ),
          always('Reads of the watchdog', perMinute(assumed.WATCHDOG_READS), 'readUnit'),
        ]
      : []),
    ...stored('Usage of each day', usageGb()).map((line) => ({ ...line, part: 'always' as const })),
    always('Recount and snapshot, writes', keptUnits(1024) * assumed.STARTS_PER_MONTH.drift, 'writeUnit'),
    always('Recount and snapshot, reads', keptUnits(4096) * assumed.STARTS_PER_MONTH.drift, 'readUnit'),
    always('Recount of usage, reads', scanReads(usageGb()) * assumed.DAYS_PER_MONTH, 'readUnit'),
    always('Logs taken in', logGb, 'logIngestion'),
    always('Logs kept', logsKept(logGb, deployed), 'logStorage'),
    always('KMS keys', assumed.TOPIC_KEYS + (deployed.tableKey ? 1 : 0), 'customerKey'),
    always(
      'KMS requests for the table',
      keyRequestsPerHour(watchdog) * assumed.HOURS_PER_MONTH,
      'keyRequest',
    ),
    always('SSM standard parameters', parameters, 'parameter'),
    always('SNS messages', messages, 'notification'),
    always('SQS, dead letters', assumed.QUEUE_REQUESTS, 'queueRequest'),
    ...(deployed.traces === true ? [always('Traces of what runs by the clock', starts, 'trace')] : []),
  ];
}

/** The snapshot of counters and the progress of the recount: each with the counters of this period and the last, each with a head. */
function keptUnits(unitBytes: number): number {
  const counters = 2 * assumed.BUSY_SUBJECTS;
  const bytes = [assumed.SNAPSHOT_COUNTER_BYTES, assumed.RECOUNT_COUNTER_BYTES];
  return bytes.reduce((sum, each) => sum + 1 + Math.ceil((counters * each) / unitBytes), 0);
}

type Quantity = readonly [label: string, quantity: number, price: PriceName];

/** Costs of the relays' network: own addresses, NAT, or endpoints. */
function networkLines(
  { natGateways = 0, endpoints = 0 }: assumed.DeploymentShape,
  relayHours: number,
  logGb: number,
): readonly Quantity[] {
  if (natGateways === 0 && endpoints === 0)
    return [['Relays, public addresses', relayHours, 'publicAddress']];
  const hours = assumed.HOURS_PER_MONTH;
  return [
    ...(natGateways > 0
      ? ([
          ['NAT gateways', natGateways * hours, 'natHour'],
          ['NAT gateways, addresses', natGateways * hours, 'publicAddress'],
          ['NAT gateways, data', assumed.RELAY_START_GB + (endpoints > 0 ? 0 : logGb), 'natData'],
        ] as const)
      : []),
    ...(endpoints > 0
      ? ([
          ['Interface endpoints', endpoints * hours, 'endpointHour'],
          ['Interface endpoints, data', logGb, 'endpointData'],
        ] as const)
      : []),
  ];
}

const scheduledFunctions = (watchdog: boolean) =>
  [...BY_THE_CLOCK, ...(watchdog ? (['watchdog'] as const) : [])] as const;
const BY_THE_CLOCK = ['sweep', 'directory', 'drift', 'doctor', 'ssm-limits', 'notices'] as const;

const keyRequestsPerHour = (watchdog: boolean): number =>
  assumed.KEY_REQUESTS_PER_HOUR + (watchdog ? assumed.WATCHDOG_KEY_REQUESTS_PER_HOUR : 0);

/** Per call. */
const gbSeconds = (name: assumed.PricedFunctionName, billedMs: number = assumed.BILLED_MS[name]): number =>
  (assumed.FUNCTION_MIB[name] / 1024) * (billedMs / 1_000);

const perMinute = (units: number): number => units * assumed.MINUTES_PER_MONTH;

const tableUnits = (sweep: number, directory: number): number =>
  sweep * assumed.STARTS_PER_MONTH.sweep + directory * assumed.STARTS_PER_MONTH.directory;

const usageGb = (): number =>
  (assumed.BUSY_SUBJECTS * assumed.USAGE_DAYS * (assumed.USAGE_ITEM_BYTES + ITEM_OVERHEAD_BYTES)) / GIGA;

/** Time that a round of the recount takes per size. */
const scanMs = (gb: number): number => gb * assumed.SCAN_MS_PER_GB;

/** DynamoDB's overhead per stored item. */
const ITEM_OVERHEAD_BYTES = 100;

const alwaysLogBytes = (deployed: assumed.DeploymentShape, starts: number): number =>
  deployed.relays * assumed.MINUTES_PER_MONTH * logged(assumed.RELAY_METRIC_LINE_BYTES) +
  starts * (systemBytes(deployed) + logged(assumed.METRIC_LINE_BYTES));

/** A line as CloudWatch bills it. */
const logged = (bytes: number): number => bytes + assumed.LOG_EVENT_BYTES;

/** Lambda's own log lines per call. */
function systemBytes({ systemLines }: assumed.DeploymentShape): number {
  const { bytes, events } = assumed.SYSTEM_LINES_OF_CALL;
  return systemLines ? bytes + events * assumed.LOG_EVENT_BYTES : 0;
}

/** GB that lie there at any time, of so many that come every month. */
const logsKept = (gbPerMonth: number, { logRetentionDays }: assumed.DeploymentShape): number =>
  gbPerMonth * assumed.STORED_LOG_SHARE * (logRetentionDays / assumed.DAYS_PER_MONTH);

const stored = (label: string, gb: number): readonly CostLine[] => [
  { part: 'kept', label: `${label}, kept`, quantity: gb, price: 'tableStorage' },
  { part: 'kept', label: `${label}, backup`, quantity: gb, price: 'tableBackup' },
];

/** Read units of a round of the recount: half a unit per 4 KB, since it need not be consistent. */
const scanReads = (gb: number): number => ((gb * GIGA) / 4096) * 0.5;

/** Cost of this many visits a month. The function's address is free. */
export function deskLines(
  visit: VisitUnits,
  visits: number,
  { cdn, traces }: assumed.DeploymentShape,
): readonly CostLine[] {
  const desk = (label: string, ofVisit: number, price: PriceName): CostLine =>
    line('desk', label, ofVisit * visits, price);
  const { requests, readUnits, writeUnits, answerBytes } = visit;
  const pagesGb = (answerBytes + requests * assumed.CONSOLE_HEADER_BYTES) / GIGA;
  const billedMs = assumed.CONSOLE_START_MS + requests * assumed.BILLED_MS.console;
  return [
    desk('Console, reads', readUnits, 'readUnit'),
    desk('Sessions, writes', writeUnits, 'writeUnit'),
    desk('Lambda console, requests', requests, 'lambdaRequest'),
    desk(
      'Lambda console, duration',
      (assumed.FUNCTION_MIB.console / 1024) * (billedMs / 1000),
      'lambdaDuration',
    ),
    // Transfer from functions to CloudFront is free.
    ...(cdn === true
      ? [
          desk('CloudFront, requests', requests, 'cdnRequest'),
          desk('CloudFront, data out', pagesGb, 'cdnDataOut'),
        ]
      : [desk('Pages, data out', pagesGb, 'dataOut')]),
    ...(traces === true ? [desk('Traces of the console, at most', requests, 'trace')] : []),
  ];
}

// Cost of one admission, with its settlement and follow-up.

/** @param records - read by the rollup: one for a rejected job, two for an admitted one. */
export function jobLines(
  job: JobUnits & { readonly records: number; readonly moves: number },
  question: CostQuestion,
): readonly CostLine[] {
  const { batch, settleBatch, rollupBatch, shape: deployed } = question;
  // An item of the log has each counter once that a batch changed.
  const changed = Math.min(rollupBatch * question.counters, assumed.BUSY_SUBJECTS);
  const logItems = changed === 0 ? 0 : job.moves / rollupBatch;
  const logBytes = assumed.COUNTER_LOG_BYTES + changed * assumed.LOGGED_COUNTER_BYTES;
  const { writeUnits: writes, readUnits: reads } = job;
  const calls = {
    admit: 1 / batch,
    settle: assumed.WEBHOOKS_PER_JOB,
    'settle-stream': 1 / settleBatch,
    rollup: job.records / rollupBatch,
  } as const;
  const lambda = (part: CostPart, label: string, name: keyof typeof calls): readonly CostLine[] => [
    line(part, `${label}, requests`, calls[name], 'lambdaRequest'),
    line(part, `${label}, duration`, calls[name] * gbSeconds(name), 'lambdaDuration'),
  ];
  const decisionGb = logged(job.decisionLineBytes) / GIGA;
  const { rollup, ...ofAdmission } = calls;
  const admissionGb = functionLogBytes(ofAdmission, deployed) / GIGA;
  const rollupGb = functionLogBytes({ rollup }, deployed) / GIGA;
  const keptGb =
    job.kept.reduce(
      (total, { bytes, days }) => total + (bytes + ITEM_OVERHEAD_BYTES) * (days / assumed.DAYS_PER_MONTH),
      0,
    ) / GIGA;
  const recordsKept = question.jobsPerMonth * ((job.kept[0]?.days ?? 0) / assumed.DAYS_PER_MONTH);
  const rounds = assumed.roundsPerMonth(recordsKept);
  return [
    line('admission', 'Hold, writes', writes.hold, 'writeUnit'),
    line('admission', 'Settlement, writes', writes.settle, 'writeUnit'),
    line('admission', 'Due index, in and out, writes', writes.dueIndex, 'writeUnit'),
    line('admission', 'Webhook inbox, writes', writes.inbox, 'writeUnit'),
    line('admission', 'Told once, writes', writes.announced, 'writeUnit'),
    line('admission', 'Ledger, reads', reads.ledger, 'readUnit'),
    line(
      'admission',
      'Estimates and pointers, reads',
      admitReads(reads.estimates, job.moves === 0, question),
      'readUnit',
    ),
    ...lambda('admission', 'Lambda admit', 'admit'),
    ...lambda('admission', 'Lambda settle', 'settle'),
    ...lambda('admission', 'Lambda settle-stream', 'settle-stream'),
    line('admission', 'Decision log taken in', decisionGb, 'logIngestion'),
    line('admission', 'Logs of these functions taken in', admissionGb, 'logIngestion'),
    line('admission', 'Data out to GitLab', dataOutGb(), 'dataOut'),
    ...trafficLines(decisionGb, deployed),
    ...(deployed.traces === true
      ? [line('admission', 'Traces, at most', calls.admit + calls.settle + calls['settle-stream'], 'trace')]
      : []),
    line('usage', 'Usage per day, writes', writes.rollup, 'writeUnit'),
    line('usage', 'Run histories, writes', writes.estimates, 'writeUnit'),
    line('usage', 'Top lists, writes', writes.top, 'writeUnit'),
    line('usage', 'Rollup, reads', reads.rollup, 'readUnit'),
    line('usage', 'Log of counters, writes', logItems * Math.ceil(logBytes / 1024), 'writeUnit'),
    line('usage', 'Log of counters, reads', (logItems * logBytes) / 4096, 'readUnit'),
    ...lambda('usage', 'Lambda rollup', 'rollup'),
    line('usage', 'Stream, read by Lambda', calls['settle-stream'] + calls.rollup, 'streamRead'),
    line('usage', 'Decisions outside the table, writes', calls.rollup, 'objectWrite'),
    line('usage', 'Sweep of live jobs, reads', sweepReads(), 'readUnit'),
    line('usage', 'Logs of the rollup taken in', rollupGb, 'logIngestion'),
    ...(deployed.traces === true
      ? [line('usage', 'Traces of the rollup, at most', calls.rollup, 'trace')]
      : []),
    ...stored('Records', keptGb),
    line('kept', 'Decisions outside the table, kept', exportedGb(job.records), 'objectStorage'),
    line('kept', 'Recount, reads', scanReads(keptGb) * rounds, 'readUnit'),
    line('kept', 'Recount, duration', gbSeconds('drift', scanMs(keptGb)) * rounds, 'lambdaDuration'),
    // Each round compares the usage of each job that ended lately: an eventual read.
    line(
      'kept',
      'Usage compared again, reads',
      (0.5 * mendedMs(recordsKept)) / roundMs(recordsKept),
      'readUnit',
    ),
    // The record is read, written with a pseudonym, and the rollup looks once whether that is news.
    line('kept', 'Names taken after 90 days, writes', 1, 'writeUnit'),
    line('kept', 'Names taken after 90 days, reads', 1.5, 'readUnit'),
    line('kept', 'Logs kept', logsKept(decisionGb + admissionGb + rollupGb, deployed), 'logStorage'),
  ];
}

const line = (part: CostPart, label: string, quantity: number, price: PriceName): CostLine => ({
  part,
  label,
  quantity,
  price,
});

/** Questions, answers and the decision log, on their way through what stands between relays and the internet. */
function trafficLines(
  decisionGb: number,
  { natGateways = 0, endpoints = 0 }: assumed.DeploymentShape,
): readonly CostLine[] {
  const answersGb = (assumed.ROUTER_QUESTION_BYTES + assumed.ROUTER_ANSWER_BYTES) / GIGA;
  return [
    ...(natGateways > 0
      ? [line('admission', 'NAT, data', answersGb + (endpoints > 0 ? 0 : decisionGb), 'natData')]
      : []),
    ...(endpoints > 0 ? [line('admission', 'Endpoints, data', decisionGb, 'endpointData')] : []),
  ];
}

/** The pointer is read again before a rejection by a limit. */
function admitReads(
  estimates: number,
  isRejected: boolean,
  { jobsPerMonth, batch, shape: { relays } }: CostQuestion,
): number {
  const batchesPerSecond = jobsPerMonth / batch / (assumed.BUSY_HOURS_PER_MONTH * 3_600);
  const perProcess = batchesPerSecond / (relays * assumed.ADMIT_PROCESSES_PER_RELAY);
  const looks = assumed.POINTER_SECONDS.reduce((sum, seconds) => sum + 1 / (1 + seconds * perProcess), 0);
  return estimates + (looks + (isRejected ? 1 : 0)) / batch;
}

/** A query of an index is not consistent: half a unit per 4 KB, once a minute. */
const sweepReads = (): number => ((assumed.DUE_ENTRY_BYTES / 4096) * assumed.JOB_MINUTES) / 2;

/** The webhooks' function counts nothing by line: there are four times as many as jobs. */
function functionLogBytes(
  calls: Readonly<Record<string, number>>,
  deployed: assumed.DeploymentShape,
): number {
  return Object.entries(calls).reduce((total, [name, count]) => {
    const own = name === 'settle' ? 0 : logged(assumed.METRIC_LINE_BYTES);
    return total + count * (systemBytes(deployed) + own);
  }, 0);
}

/** GB-months of a job's images, each kept for so many days. */
const exportedGb = (records: number): number =>
  (records * assumed.EXPORTED_BYTES * (assumed.EXPORT_DAYS / assumed.DAYS_PER_MONTH)) / GIGA;

const dataOutGb = (): number =>
  (assumed.ROUTER_ANSWER_BYTES + assumed.WEBHOOKS_PER_JOB * assumed.WEBHOOK_ANSWER_BYTES) / GIGA;
