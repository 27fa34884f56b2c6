/** Monthly fixed costs. */
import * as assumed from './assumptions.ts';
import type { DeskUnits } from './desk-units.ts';
import type { CostLine } from './line.ts';
import type { PriceName } from './prices.ts';
import * as shape from './shape.ts';

const KILO = 1_000;
const GIGA = 1_000_000_000;

export function alwaysLines(
  deployed: shape.DeploymentShape,
  { parameterRun, noticesRun }: Pick<DeskUnits, 'parameterRun' | 'noticesRun'>,
): readonly CostLine[] {
  const always = (label: string, quantity: number, price: PriceName): CostLine => ({
    part: 'always',
    label,
    quantity,
    price,
  });
  const { relays, watchdog, console } = deployed;
  const monitoring = shape.monitoringOf(deployed);
  const relayHours = relays * shape.HOURS_PER_MONTH;
  const scheduled = scheduledFunctions(watchdog);
  const starts = scheduled.reduce((total, name) => total + shape.STARTS_PER_MONTH[name], 0);
  const heartbeats = watchdog ? relays * shape.HEARTBEATS_PER_MINUTE * shape.MINUTES_PER_MONTH : 0;
  const ssmRuns = shape.STARTS_PER_MONTH['ssm-limits'];
  const parameters =
    shape.PARAMETERS +
    (watchdog ? shape.PARAMETERS_OF.watchdog : 0) +
    (console ? shape.PARAMETERS_OF.console : 0);
  const messages = assumed.ALARM_MESSAGES + assumed.THRESHOLD_MESSAGES + assumed.NOTICE_MESSAGES;
  const logGb = alwaysLogBytes(deployed, starts) / GIGA;
  return [
    always('Relays, CPU', relayHours * shape.RELAY_VCPU, 'fargateCpu'),
    always('Relays, memory', relayHours * shape.RELAY_GB, 'fargateMemory'),
    ...networkLines(deployed, relayHours, logGb).map(([label, quantity, price]) =>
      always(label, quantity, price),
    ),
    ...(deployed.builtImage ? [always('Relay image in ECR', shape.IMAGE_GB, 'imageStorage')] : []),
    always('Custom metrics', monitoring.customMetrics, 'metric'),
    always('Metrics that alarms look at', monitoring.alarmMetrics, 'alarm'),
    always('Composite alarms', monitoring.compositeAlarms, 'compositeAlarm'),
    always('Dashboard, one of the first 3', monitoring.dashboards, 'dashboard'),
    ...scheduled.map((name) =>
      always(`Lambda ${name}, duration`, shape.STARTS_PER_MONTH[name] * gbSeconds(name), 'lambdaDuration'),
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
      parameterRun.readUnits * ssmRuns + noticesRun.readUnits * shape.STARTS_PER_MONTH.notices,
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
    always('Recount and snapshot, writes', keptUnits(1024) * shape.STARTS_PER_MONTH.drift, 'writeUnit'),
    always('Recount and snapshot, reads', keptUnits(4096) * shape.STARTS_PER_MONTH.drift, 'readUnit'),
    always('Recount of usage, reads', scanReads(usageGb()) * shape.DAYS_PER_MONTH, 'readUnit'),
    always('Logs taken in', logGb, 'logIngestion'),
    always('Logs kept', logsKept(logGb, deployed), 'logStorage'),
    always('KMS keys', shape.TOPIC_KEYS + (deployed.tableKey ? 1 : 0), 'customerKey'),
    always('KMS requests for the table', keyRequestsPerHour(watchdog) * shape.HOURS_PER_MONTH, 'keyRequest'),
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
  { natGateways = 0, endpoints = 0 }: shape.DeploymentShape,
  relayHours: number,
  logGb: number,
): readonly Quantity[] {
  if (natGateways === 0 && endpoints === 0)
    return [['Relays, public addresses', relayHours, 'publicAddress']];
  const hours = shape.HOURS_PER_MONTH;
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
export const gbSeconds = (
  name: shape.PricedFunctionName,
  billedMs: number = assumed.BILLED_MS[name],
): number => (shape.FUNCTION_MIB[name] / 1024) * (billedMs / KILO);

const perMinute = (units: number): number => units * shape.MINUTES_PER_MONTH;

const tableUnits = (sweep: number, directory: number): number =>
  sweep * shape.STARTS_PER_MONTH.sweep + directory * shape.STARTS_PER_MONTH.directory;

const usageGb = (): number =>
  (assumed.BUSY_SUBJECTS * assumed.USAGE_DAYS * (assumed.USAGE_ITEM_BYTES + ITEM_OVERHEAD_BYTES)) / GIGA;

/** Time that a round of the recount takes per size. */
export const scanMs = (gb: number): number => gb * assumed.SCAN_MS_PER_GB;

/** DynamoDB's overhead per stored item. */
export const ITEM_OVERHEAD_BYTES = 100;

const alwaysLogBytes = (deployed: shape.DeploymentShape, starts: number): number =>
  deployed.relays * shape.MINUTES_PER_MONTH * logged(assumed.RELAY_METRIC_LINE_BYTES) +
  starts * (systemBytes(deployed) + logged(assumed.METRIC_LINE_BYTES));

/** A line as CloudWatch bills it. */
export const logged = (bytes: number): number => bytes + assumed.LOG_EVENT_BYTES;

/** Lambda's own log lines per call. */
export function systemBytes({ systemLines }: shape.DeploymentShape): number {
  const { bytes, events } = assumed.SYSTEM_LINES_OF_CALL;
  return systemLines ? bytes + events * assumed.LOG_EVENT_BYTES : 0;
}

/** GB that lie there at any time, of so many that come every month. */
export const logsKept = (gbPerMonth: number, { logRetentionDays }: shape.DeploymentShape): number =>
  gbPerMonth * assumed.STORED_LOG_SHARE * (logRetentionDays / shape.DAYS_PER_MONTH);

export const stored = (label: string, gb: number): readonly CostLine[] => [
  { part: 'kept', label: `${label}, kept`, quantity: gb, price: 'tableStorage' },
  { part: 'kept', label: `${label}, backup`, quantity: gb, price: 'tableBackup' },
];

/** Read units of a round of the recount: half a unit per 4 KB, since it need not be consistent. */
export const scanReads = (gb: number): number => ((gb * GIGA) / 4096) * 0.5;
