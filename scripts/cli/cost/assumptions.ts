/** Assumptions that cannot be counted. They fit a usual installation; edit them for yours. */
import { type MonitoringCounts, monitoringCounts } from '../../../cdk/monitoring/alarms/alarms.ts';
import { roundMs } from '../../../functions/core/ledger/recount-round.ts';
import { DAY_MS } from '../../../policies/limits/calendar.ts';

/** Lambda's billed time per warm call, milliseconds. */
export const BILLED_MS = {
  /** A batch: evaluation, and one transaction of about 8 ms. */
  admit: 25,
  /** A webhook: its signature, and for every fourth one a small write. */
  settle: 6,
  /** A batch: one read, one transaction. */
  'settle-stream': 40,
  /** A batch: five reads and writes one after the other. */
  rollup: 80,
  sweep: 1_500,
  directory: 4_000,
  /** It folds the log of counters and packs sheets; the recount is counted by the size of the table. */
  drift: 500,
  /** Some calls of GitLab, and two for each top-level group. */
  doctor: 5_000,
  /** When nothing changed: some reads, a page of parameters. */
  'ssm-limits': 400,
  /** Likewise. */
  notices: 250,
  /** A page: some parallel reads. */
  console: 120,
  watchdog: 150,
} as const satisfies Readonly<Record<PricedFunctionName, number>>;

/** A scan of one segment in pages of 1 MB. */
export const SCAN_MS_PER_GB = 40_000;

/** An item of the log of counters: its frame, and each counter that a batch of the stream changed, compressed. */
export const COUNTER_LOG_BYTES = 180;
export const LOGGED_COUNTER_BYTES = 20;
/** A counter in the snapshot, and its sums in the progress of the recount; both compressed. */
export const SNAPSHOT_COUNTER_BYTES = 15;
export const RECOUNT_COUNTER_BYTES = 60;

/** `created`, `pending`, `running` and the end: GitLab sends each, and only the last is kept. */
export const WEBHOOKS_PER_JOB = 4;

/** Job names of a project that have run lately: they make the size of its run histories. */
export const JOB_NAMES = 10;
/** Limits of a sample job: four levels times six kinds. */
export const COUNTERS_MAX = 24;
/** Projects in the sample: more than the list of top projects. */
export const PROJECTS = 60;
export const ROOT_GROUPS = 6;

/** Groups, projects and classes with jobs on a day, whose usage of that day is kept. */
export const BUSY_SUBJECTS = 300;
export const USAGE_ITEM_BYTES = 300;
export const USAGE_DAYS = 762;

/** An image of a job's record outside the table: compressed with some others. */
export const EXPORTED_BYTES = 350;
/** cdk/settings/deployment.ts */
export const EXPORT_DAYS = 90;

/**
 * Periodic reads of admission besides estimates, by the first batch after this many seconds: the pointers of
 * limits and directory.
 */
export const POINTER_SECONDS = [5, 60] as const;
/** Each asks for itself. Bursts have more under way than one, and they stay warm for a while. */
export const ADMIT_PROCESSES_PER_RELAY = 2;

/** Read units of a run: 16 shards of the due index at half a unit, the marks. Live jobs beyond that are counted by job. */
export const SWEEP_READS = 9;
export const SWEEP_WRITES = 1;
/** Pointer, progress, wishes and the groups; progress and pointer again. */
export const DIRECTORY_READS = 8;
export const DIRECTORY_WRITES = 3;
/** Heartbeats and its mark; the mark is written every ten minutes. */
export const WATCHDOG_READS = 2;
export const WATCHDOG_WRITES = 0.1;

/** Duration of a job, minutes: the sweep reads it in the due index each minute. */
export const JOB_MINUTES = 4;
export const DUE_ENTRY_BYTES = 150;

/** CloudWatch's overhead per line. */
export const LOG_EVENT_BYTES = 26;
/** `platform.start` and `platform.report` in JSON, which Lambda writes at level INFO for every call. */
export const SYSTEM_LINES_OF_CALL = { events: 2, bytes: 520 } as const;
/** Metrics travel as log lines: one a minute from a relay, one a call from each function but the webhooks'. */
export const RELAY_METRIC_LINE_BYTES = 2_000;
export const METRIC_LINE_BYTES = 400;
/** Stored share of ingested logs, which are compressed. */
export const STORED_LOG_SHARE = 0.15;

/** Messages about alarms. */
export const ALARM_MESSAGES = 20;
/** Crossings of thresholds. */
export const THRESHOLD_MESSAGES = 200;
/** Notices to owners. */
export const NOTICE_MESSAGES = 500;
/** Dead letters and what looks at their queues. */
export const QUEUE_REQUESTS = 1_000;
/**
 * DynamoDB asks for the table's key every five minutes for each program that is awake: admit, settle and its stream, rollup,
 * sweep, directory, ssm-limits; notices come every quarter of an hour.
 */
export const KEY_REQUESTS_PER_HOUR = 12 * 7 + 4;
export const WATCHDOG_KEY_REQUESTS_PER_HOUR = 12;

/** Each deployment pulls the relay's image again, some times a month. */
export const RELAY_START_GB = 1;

/** Jobs come while people work: hours of a month. */
export const BUSY_HOURS_PER_MONTH = 220;
/** Duration of a relay's call to admit: requests in that time share the next batch. */
export const CALL_SECONDS = 0.05;
/** A new table on demand has so many partitions, and its stream as many shards, each with batches of its own. */
export const STREAM_SHARDS = 4;
/** Batch windows of the stream's consumers; see cdk/constructs/programs.ts. */
export const SETTLE_WINDOW_SECONDS = 1;
export const ROLLUP_WINDOW_SECONDS = 150;

/** An answer to a webhook; an answer to the router. Bytes with their headers. */
export const WEBHOOK_ANSWER_BYTES = 400;
export const ROUTER_ANSWER_BYTES = 400;
/** Includes the variables that GitLab sends. */
export const ROUTER_QUESTION_BYTES = 8_000;

/** A budget owner's visit: overview, a group, overview … one page a minute. */
export const VISIT_PAGES = 10;
/** Start of a console process, which usually ends before the next visit. */
export const CONSOLE_START_MS = 1_500;
/** Per response, including the content security policy. */
export const CONSOLE_HEADER_BYTES = 1_500;

// Cost-relevant parts of a deployment. Sizes and schedules match cdk/constructs.

export interface DeploymentShape {
  readonly relays: number;
  readonly admitRoute: 'url' | 'invoke';
  readonly watchdog: boolean;
  readonly console: boolean;
  /** A key of the customer's own for the table. */
  readonly tableKey: boolean;
  /** The relay's image is built and kept in ECR, rather than a ready one. */
  readonly builtImage: boolean;
  /** True if Lambda logs its own lines per call, as at log level INFO. */
  readonly systemLines: boolean;
  /** Days that logs are kept. */
  readonly logRetentionDays: number;
  /** NAT gateways that the relays' subnets go out by. With one, or with endpoints, relays have no public addresses. @default 0 */
  readonly natGateways?: number;
  /** Interface endpoints made for Tollgate, counted once for each zone. @default 0 */
  readonly endpoints?: number;
  /** True if functions write traces. @default false */
  readonly traces?: boolean;
  /** True with CloudFront before the console. @default false */
  readonly cdn?: boolean;
}

/** Monitoring resources of such a deployment. An alarm on a formula is billed per metric. */
export const monitoringOf = ({
  relays,
  watchdog,
  console,
}: Pick<DeploymentShape, 'relays' | 'watchdog' | 'console'>): MonitoringCounts =>
  monitoringCounts({
    relays,
    watchdog,
    console,
    deadlineMs: 2_000,
    failurePolicy: 'admit',
    notices: true,
    metrics: true,
  });

/** cdk/constructs/node-lambda.ts sets Lambda's own log level to WARN. */
export const SYSTEM_LINES = false;

export const HOURS_PER_MONTH = 730;
export const MINUTES_PER_MONTH = HOURS_PER_MONTH * 60;
export const DAYS_PER_MONTH = HOURS_PER_MONTH / 24;
/** Rounds of the recount through so many records. */
export const roundsPerMonth = (records: number): number => (DAYS_PER_MONTH * DAY_MS) / roundMs(records);

export const RELAY_VCPU = 0.25;
export const RELAY_GB = 0.5;

/** Memory in MiB. */
export const FUNCTION_MIB = {
  admit: 512,
  settle: 256,
  'settle-stream': 512,
  rollup: 512,
  sweep: 512,
  directory: 512,
  drift: 1769,
  doctor: 512,
  'ssm-limits': 1024,
  notices: 512,
  console: 512,
  watchdog: 256,
} as const;

export type PricedFunctionName = keyof typeof FUNCTION_MIB;

/** Starts by the clock, a month. */
export const STARTS_PER_MONTH = {
  sweep: MINUTES_PER_MONTH,
  directory: MINUTES_PER_MONTH / 5,
  drift: HOURS_PER_MONTH,
  doctor: HOURS_PER_MONTH,
  'ssm-limits': MINUTES_PER_MONTH / 5,
  notices: MINUTES_PER_MONTH / 15,
  watchdog: MINUTES_PER_MONTH,
} as const satisfies Partial<Record<PricedFunctionName, number>>;

export const HEARTBEATS_PER_MINUTE = 2;

/** Router's token, GitLab's token, webhook secrets. All standard parameters. */
export const PARAMETERS = 3;
/** GetParametersByPath returns at most ten. */
export const PARAMETERS_PER_CALL = 10;
/** A token of its own; the application's secret and a token of its own. */
export const PARAMETERS_OF = { watchdog: 1, console: 2 } as const;
/** The on-call topic has its own key, because CloudWatch may not use the account's. */
export const TOPIC_KEYS = 1;
/** Compressed; the last few are kept besides, and share their layers. */
export const IMAGE_GB = 0.06;
