/** Cost-relevant parts of a deployment. Sizes and schedules match cdk/constructs. */
import { type MonitoringCounts, monitoringCounts } from '../../../cdk/monitoring/alarms/alarms.ts';
import { roundMs } from '../../../functions/core/ledger/index.ts';
import { DAY_MS } from '../../../policies/limits/calendar.ts';

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
