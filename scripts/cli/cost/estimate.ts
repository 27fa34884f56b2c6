/** Quantities of a deployment, from counted table units and from assumptions that fit a usual installation. */
import { monitoringCounts } from '../../../cdk/monitoring/alarms.ts';
import { roundMs } from '../../../functions/core/ledger/recount-round.ts';
import { DAY_MS } from '../../../policies/limits/calendar.ts';
import { PRICES, type PriceName, type Prices, type Region } from './prices.ts';

export interface CostInput {
  readonly jobsPerMonth: number;
  readonly batch: number;
  readonly rollupBatch: number;
  readonly counters: number;
  readonly region: Region;
  readonly relays: number;
  readonly watchdog: boolean;
  readonly visits: number | undefined;
  readonly natGateways: number;
  /** Webhooks and console come by an API, on domains of the settings. */
  readonly edge: boolean;
}

type CostPart = 'always' | 'busy' | 'console' | 'admission' | 'usage' | 'kept';

const HOURS = 730;
const MINUTES = HOURS * 60;
const DAYS = HOURS / 24;
const GIGA = 1_000_000_000;
export const MILLION = 1_000_000;
/** Jobs come while people work: 22 days of 10 hours. */
const BUSY_SECONDS = 220 * 3_600;

/** cdk/constructs: size of a relay. */
const RELAY = { vcpu: 0.25, gb: 0.5 } as const;
/** Each deployment pulls the relay's image again, some times a month. */
const RELAY_START_GB = 1;
/** Starts a month, billed ms of a start, MiB, and table units of a start when nothing has changed. */
const BY_THE_CLOCK = {
  sweep: { starts: MINUTES, ms: 1_500, mib: 512, reads: 9, writes: 1 },
  directory: { starts: MINUTES / 5, ms: 4_000, mib: 512, reads: 8, writes: 3 },
  /** Snapshot of counters and progress of the recount, of 300 busy subjects in two periods. */
  drift: { starts: HOURS, ms: 500, mib: 1_769, reads: 14, writes: 47 },
  doctor: { starts: HOURS, ms: 5_000, mib: 512, reads: 0, writes: 0 },
  'ssm-limits': { starts: MINUTES / 5, ms: 400, mib: 1_024, reads: 4, writes: 0 },
  notices: { starts: MINUTES / 15, ms: 250, mib: 512, reads: 5, writes: 0 },
  watchdog: { starts: MINUTES, ms: 150, mib: 256, reads: 2, writes: 0.1 },
} as const;
const HEARTBEATS_PER_MINUTE = 2;
/** DynamoDB asks for the table's key every five minutes for each of seven programs, and every quarter of an hour for notices. */
const KEY_REQUESTS_PER_HOUR = 12 * 7 + 4;

/** Billed ms of a warm call, and MiB. */
const PER_CALL = {
  admit: { ms: 25, mib: 512 },
  settle: { ms: 6, mib: 256 },
  'settle-stream': { ms: 40, mib: 512 },
  rollup: { ms: 80, mib: 512 },
} as const;
/** `created`, `pending`, `running` and the end: GitLab sends each, and only the last is kept. */
const WEBHOOKS_PER_JOB = 4;
const INBOX = { writes: 1, bytes: 570, days: 3 } as const;
/** Records are kept 90 days after their month, their notes in the usage a little longer. */
const RECORD_DAYS = 122;
/** DynamoDB's overhead per stored item. */
const ITEM_BYTES = 100;
/** Half a unit for the run history of a project; the pointers of limits and directory are read by the clock. */
const READS_PER_BATCH = 1;
/** An item of the log of counters: its frame, and each counter that a batch of the stream changed, compressed. */
const COUNTER_LOG = { bytes: 180, perCounter: 20, countersMax: 300 } as const;
/** Bytes with CloudWatch's overhead: a decision, metrics of a call, metrics of a relay per minute, without and with jobs. */
const LOG_LINE = { decision: 356, call: 426, quietRelay: 225, relay: 2_026 } as const;
/** Logs are kept 30 days, compressed. */
const LOGS_STORED = 0.15 * (30 / DAYS);
/** An admission request with its variables; responses to the router and to webhooks. */
const QUESTION_BYTES = 8_000;
const ANSWER_BYTES = 400;
/** A scan of one segment in pages of 1 MB. */
const SCAN_MS_PER_GB = 40_000;

/** From the sign-in on, ten pages of a finance user who sees 300 groups with a budget, counted on 2026-11-28. */
const VISIT = {
  reads: 32_373,
  writes: 12,
  requests: 14,
  gb: 0.000255,
  ms: 1_500 + 14 * 120,
  mib: 512,
} as const;

export const BATCH_MAX = 96;
const ROLLUP_BATCH_MAX = 200;
/** Duration of a relay's call to admit: requests in that time share the next batch. */
const CALL_SECONDS = 0.05;
/** Partitions of a new table on demand, and shards of its stream. */
const STREAM_SHARDS = 4;
export const ROLLUP_WINDOW_SECONDS = 300;

/** Batch sizes by the number of jobs: those of a small installation come one by one. Pipelines make larger ones. */
export function expectedBatches(jobsPerMonth: number, relays: number) {
  const perSecond = jobsPerMonth / BUSY_SECONDS;
  const together = (rate: number, seconds: number, max: number): number =>
    Math.min(max, Math.max(1, Math.round(1 + rate * seconds)));
  return {
    batch: together(perSecond / relays, CALL_SECONDS, BATCH_MAX),
    // Its hold and its end: two records of a job.
    rollupBatch: together((2 * perSecond) / STREAM_SHARDS, ROLLUP_WINDOW_SECONDS, ROLLUP_BATCH_MAX),
  };
}

export function estimate(question: CostInput) {
  const prices: Prices = PRICES[question.region];
  const quantities: Readonly<Record<CostPart, readonly Quantity[]>> = {
    ...{ always: alwaysQuantities(question), busy: busyQuantities(question) },
    console: visitQuantities(question),
    ...jobQuantities(question),
  };
  const lines = Object.entries(quantities).flatMap(([part, rows]) =>
    rows.flatMap(([label, quantity, price]) => {
      const { usd, per } = prices[price];
      const line = { part: part as CostPart, label, quantity, price, usd: (quantity * usd) / per };
      return quantity > 0 ? [line] : [];
    }),
  );
  const sum = (...parts: readonly CostPart[]): number =>
    lines.filter((line) => parts.includes(line.part)).reduce((total, { usd }) => total + usd, 0);
  const perJob = sum('admission', 'usage', 'kept');
  const totals = {
    idlePerMonth: sum('always'),
    busyPerMonth: sum('busy'),
    consolePerMonth: sum('console'),
    admissionsPerMillion: sum('admission') * MILLION,
    allPerMillion: perJob * MILLION,
    perMonth: sum('always', 'busy', 'console') + perJob * question.jobsPerMonth,
  };
  return { question, totals, lines, prices };
}

export type Estimate = ReturnType<typeof estimate>;
type Quantity = readonly [label: string, quantity: number, price: PriceName];

/** An alarm on a formula is billed per metric. */
export const monitoringOf = (question: Pick<CostInput, 'relays' | 'watchdog' | 'visits'>) => {
  const { visits, ...deployed } = question;
  const settings = { deadlineMs: 2_000, failurePolicy: 'admit', noticesMinutes: 15, metrics: true } as const;
  return monitoringCounts({ ...deployed, ...settings, console: visits !== undefined });
};

function alwaysQuantities(question: CostInput): readonly Quantity[] {
  const { relays, watchdog, natGateways } = question;
  const { watchdog: watching, ...always } = BY_THE_CLOCK;
  const scheduled = Object.values(watchdog ? BY_THE_CLOCK : always);
  const sum = (of: (program: (typeof scheduled)[number]) => number): number =>
    scheduled.reduce((total, program) => total + program.starts * of(program), 0);
  const starts = sum(() => 1);
  const heartbeats = watchdog ? relays * HEARTBEATS_PER_MINUTE * MINUTES : 0;
  const logGb = (relays * MINUTES * LOG_LINE.quietRelay + starts * LOG_LINE.call) / GIGA;
  const monitoring = monitoringOf(question);
  const addresses = natGateways === 0 ? relays : natGateways;
  return [
    ['Relays, CPU', relays * HOURS * RELAY.vcpu, 'fargateCpu'],
    ['Relays, memory', relays * HOURS * RELAY.gb, 'fargateMemory'],
    ['Public addresses', addresses * HOURS, 'publicAddress'],
    ['NAT gateways', natGateways * HOURS, 'natHour'],
    ['NAT gateways, data', natGateways && RELAY_START_GB + logGb, 'natData'],
    ['Custom metrics', monitoring.customMetrics, 'metric'],
    ['Metrics that alarms look at', monitoring.alarmMetrics, 'alarm'],
    ['Composite alarms', monitoring.compositeAlarms, 'compositeAlarm'],
    ['Dashboards', monitoring.dashboards, 'dashboard'],
    ['Scheduled functions, duration', sum(gbSeconds), 'lambdaDuration'],
    ['Scheduled functions, requests', starts, 'lambdaRequest'],
    ['Scheduled functions, starts', starts, 'scheduledStart'],
    ['Scheduled functions, writes', sum(({ writes }) => writes) + heartbeats, 'writeUnit'],
    ['Scheduled functions, reads', sum(({ reads }) => reads), 'readUnit'],
    ['Logs ingested', logGb, 'logIngestion'],
    ['Logs stored', logGb * LOGS_STORED, 'logStorage'],
    ['KMS requests', (KEY_REQUESTS_PER_HOUR + (watchdog ? 12 : 0)) * HOURS, 'keyRequest'],
  ];
}

/** CloudWatch bills each hour in which a metric is written. */
function busyQuantities(question: CostInput): readonly Quantity[] {
  const hours = question.jobsPerMonth > 0 ? BUSY_SECONDS / 3_600 : 0;
  const logGb = (question.relays * hours * 60 * (LOG_LINE.relay - LOG_LINE.quietRelay)) / GIGA;
  return [
    ['Other custom metrics', (monitoringOf(question).hourlyMetrics * hours) / HOURS, 'metric'],
    ['Logs of relays ingested', logGb, 'logIngestion'],
  ];
}

function visitQuantities({ visits = 0, edge }: CostInput): readonly Quantity[] {
  return [
    ['Console, reads', visits * VISIT.reads, 'readUnit'],
    ['Console, writes', visits * VISIT.writes, 'writeUnit'],
    ['Console, requests', visits * VISIT.requests, 'lambdaRequest'],
    ['Console, duration', visits * gbSeconds(VISIT), 'lambdaDuration'],
    ['Console, calls of its API', edge ? visits * VISIT.requests : 0, 'apiCall'],
    ['Console, data out', visits * VISIT.gb, 'dataOut'],
  ];
}

function jobQuantities(question: CostInput) {
  const { batch, rollupBatch, counters, natGateways, edge } = question;
  const deciding = { admit: 1 / batch, settle: WEBHOOKS_PER_JOB, 'settle-stream': 1 / batch };
  const rollups = 2 / rollupBatch;
  const duration = (calls: Partial<Record<keyof typeof PER_CALL, number>>): number =>
    Object.entries(calls).reduce(
      (total, [name, count]) => total + count * gbSeconds(PER_CALL[name as keyof typeof PER_CALL]),
      0,
    );
  const requests = deciding.admit + deciding.settle + deciding['settle-stream'];
  const decisionGb = LOG_LINE.decision / GIGA;
  // The functions for admissions and webhooks log exceptions only.
  const callsGb = (deciding['settle-stream'] * LOG_LINE.call) / GIGA;
  const rollupGb = (rollups * LOG_LINE.call) / GIGA;
  const trafficGb = (QUESTION_BYTES + ANSWER_BYTES) / GIGA;
  const changed = Math.min(rollupBatch * counters, COUNTER_LOG.countersMax);
  const logBytes = COUNTER_LOG.bytes + changed * COUNTER_LOG.perCounter;
  const months = (days: number): number => days / DAYS;
  const keptGb =
    ((MEASURED.recordBytes + 2 * ITEM_BYTES) * months(RECORD_DAYS) +
      (INBOX.bytes + ITEM_BYTES) * months(INBOX.days)) /
    GIGA;
  const round = roundMs(question.jobsPerMonth * months(RECORD_DAYS));
  const rounds = (DAYS * DAY_MS) / round;
  const admission: readonly Quantity[] = [
    ['Hold, writes', holdUnits(batch, counters), 'writeUnit'],
    ['Settlement, writes', holdUnits(batch, counters), 'writeUnit'],
    ['Due index, writes', MEASURED.dueIndex, 'writeUnit'],
    ['Webhook inbox, writes', INBOX.writes, 'writeUnit'],
    ['Admission, reads', MEASURED.ledgerReads + READS_PER_BATCH / batch, 'readUnit'],
    ['Webhooks, calls of their API', edge ? WEBHOOKS_PER_JOB : 0, 'apiCall'],
    ['Lambda, requests', requests, 'lambdaRequest'],
    ['Lambda, duration', duration(deciding), 'lambdaDuration'],
    ['Logs ingested', decisionGb + callsGb, 'logIngestion'],
    ['Data out to GitLab', ((1 + WEBHOOKS_PER_JOB) * ANSWER_BYTES) / GIGA, 'dataOut'],
    ['NAT gateways, data', natGateways && trafficGb + decisionGb, 'natData'],
  ];
  const usage: readonly Quantity[] = [
    ['Usage and top lists, writes', usageUnits('usage', batch, rollupBatch), 'writeUnit'],
    ['Usage and top lists, reads', usageUnits('usageReads', batch, rollupBatch), 'readUnit'],
    ['Log of counters, writes', counters && rollups * Math.ceil(logBytes / 1024), 'writeUnit'],
    ['Lambda rollup, requests', rollups, 'lambdaRequest'],
    ['Lambda rollup, duration', duration({ rollup: rollups }), 'lambdaDuration'],
    ['Export to S3, writes', rollups, 'objectWrite'],
    ['Logs of the rollup ingested', rollupGb, 'logIngestion'],
  ];
  const kept: readonly Quantity[] = [
    ['Records, stored', keptGb, 'tableStorage'],
    ['Records, backup', keptGb, 'tableBackup'],
    // Eventually consistent: half a unit per 4 KB. Each round also compares the usage of jobs that ended since the last one.
    ['Recount, reads', (rounds * keptGb * GIGA) / 4096 / 2 + (0.5 * (round + DAY_MS)) / round, 'readUnit'],
    ['Recount, duration', rounds * gbSeconds({ mib: 1_769, ms: keptGb * SCAN_MS_PER_GB }), 'lambdaDuration'],
    ['Pseudonyms after 90 days, writes', 1, 'writeUnit'],
    ['Pseudonyms after 90 days, reads', 1.5, 'readUnit'],
    ['Logs stored', (decisionGb + callsGb + rollupGb) * LOGS_STORED, 'logStorage'],
  ];
  return { admission, usage, kept };
}

const gbSeconds = ({ mib, ms }: { readonly mib: number; readonly ms: number }): number =>
  (mib / 1024) * (ms / 1_000);

/**
 * Table units of an admitted job, counted on the real programs by test/scripts/cli/cost/job-units.ts. A test counts some of them
 * again and shows what to write here after a change.
 */

const BATCHES = [1, 5, 30] as const;
const ROLLUP_BATCHES = [1, 5, 30, 100, 200] as const;

export const MEASURED = {
  batches: BATCHES,
  rollupBatches: ROLLUP_BATCHES,
  dueIndex: 2,
  ledgerReads: 1,
  /** Record, and the rollup's note about it. */
  recordBytes: 709,
  /** Write units of usage per day, run histories and top lists: a row per size of a batch, a column per size of the rollup's. */
  usage: [
    [32, 24, 12.733333, 8.58, 6.39],
    [31.933333, 9.6, 7.933333, 6.22, 5.81],
    [31.933333, 9.588889, 4.933333, 5.083333, 4.914286],
  ],
  usageReads: [
    [6.5, 5.7, 3.933333, 2.63, 1.815],
    [6.5, 2.1, 1.933333, 1.63, 1.565],
    [6.5, 2.1, 1.183333, 1.204167, 1.171429],
  ],
} as const;

/** Write units of a hold, or of a settlement: a transaction of the record and its share of the batch's counters. */
export const holdUnits = (batch: number, counters: number): number => 2 + (2 * counters) / batch;

/** Interpolates between the counted sizes. Costs of a batch are shared, so they are linear in the inverse of its size. */
const usageUnits = (name: 'usage' | 'usageReads', batch: number, rollupBatch: number): number =>
  between(
    BATCHES,
    MEASURED[name].map((row) => between(ROLLUP_BATCHES, row, rollupBatch)),
    batch,
  );

function between(sizes: readonly number[], values: readonly number[], size: number): number {
  const found = sizes.findIndex((each) => each >= size);
  const high = Math.max(1, found === -1 ? sizes.length - 1 : found);
  const [from = Number.NaN, to = Number.NaN] = [sizes[high - 1], sizes[high]];
  const [below = Number.NaN, above = Number.NaN] = [values[high - 1], values[high]];
  return below + ((1 / size - 1 / from) / (1 / to - 1 / from)) * (above - below);
}
