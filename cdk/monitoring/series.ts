/** All metric series. It does not load the CDK, so that `tollgate cost` can count them. */
import { FUNCTION_METRIC, FUNCTION_METRICS } from '../../functions/names.ts';
import { RELAY_METRIC, RELAY_METRICS } from '../../relay/names.ts';

const PROGRAMS = [
  'admit',
  'settle',
  'settle-stream',
  'rollup',
  'sweep',
  'directory',
  'drift',
  'doctor',
  'ssm-limits',
  'notices',
  'requeue',
  'console',
  'watchdog',
] as const;
export type ProgramName = (typeof PROGRAMS)[number];
/** Programs with callers outside: a new version gets a part of the calls first. */
export type RolledOut = 'admit' | 'settle' | 'console';

export type Statistic = 'Sum' | 'Average' | 'Minimum' | 'Maximum' | 'SampleCount' | 'p50' | 'p99';

export type MetricSubject =
  | `function/${ProgramName}`
  | `rollout/${RolledOut}`
  | `dead-letters/${'settle-stream' | 'rollup'}`
  | 'table'
  | 'relay-service';

/** One metric with one statistic. Ours have no subject: their only dimension is the deployment. */
export type Series =
  | { readonly from: 'tollgate'; readonly name: string; readonly statistic: Statistic }
  | {
      readonly from: 'aws';
      readonly namespace: AwsNamespace;
      readonly name: string;
      readonly of: MetricSubject;
      readonly statistic: Statistic;
    };

type AwsNamespace = 'AWS/Lambda' | 'AWS/DynamoDB' | 'AWS/SQS' | 'AWS/ECS';

type OwnMetric = (typeof FUNCTION_METRICS | typeof RELAY_METRICS)[number];

const own = ({ name, statistic }: OwnMetric, other?: Statistic): Series => ({
  from: 'tollgate',
  name,
  statistic: other ?? statistic,
});
/** The word of a metric is its name: `liveHolds`. */
const OWN_SERIES = Object.fromEntries(
  [...RELAY_METRICS, ...FUNCTION_METRICS].map((metric) => [
    metric.name.charAt(0).toLowerCase() + metric.name.slice(1),
    own(metric),
  ]),
) as Readonly<Record<Uncapitalize<OwnMetric['name']>, Series>>;
const aws = (namespace: AwsNamespace, of: MetricSubject, name: string, statistic: Statistic): Series => ({
  ...{ from: 'aws', namespace, of, name, statistic },
});
const lambda = (program: ProgramName, name: string, statistic: Statistic = 'Sum'): Series =>
  aws('AWS/Lambda', `function/${program}`, name, statistic);
/** A refused call got a 4xx, for example 401 or 429. A broken page is not an error of the function: it answered, with a 500. */
const COUNTS = {
  ...{ Calls: 'Invocations', Errors: 'Errors', Throttles: 'Throttles' },
  ...{ Refused: 'Url4xxCount', Broken: 'Url5xxCount' },
};
type Camel<Name extends string> = Name extends `${infer Head}-${infer Rest}`
  ? `${Head}${Capitalize<Rest>}`
  : Name;
/** `settleStreamErrors`, `consoleBroken`. */
const LAMBDA_SERIES = Object.fromEntries(
  PROGRAMS.flatMap((program) =>
    Object.entries(COUNTS).map(([count, name]) => [
      `${program.replace(/-(.)/, (_, letter: string) => letter.toUpperCase())}${count}`,
      lambda(program, name),
    ]),
  ),
) as Readonly<Record<`${Camel<ProgramName>}${keyof typeof COUNTS}`, Series>>;
const table = (name: string): Series => aws('AWS/DynamoDB', 'table', name, 'Sum');
const letters = (reader: 'settle-stream' | 'rollup'): Series =>
  aws('AWS/SQS', `dead-letters/${reader}`, 'ApproximateNumberOfMessagesVisible', 'Maximum');
const relay = (name: string): Series => aws('AWS/ECS', 'relay-service', name, 'Maximum');
export const SERIES = {
  ...OWN_SERIES,
  // The relay with the most streams: no value means no stream anywhere.
  streamsMost: own(RELAY_METRIC.streamsOpen, 'Maximum'),
  // Each relay with a stream writes one value a minute.
  relayMinutes: own(RELAY_METRIC.streamsOpen, 'SampleCount'),
  latencyMedian: own(RELAY_METRIC.answerLatencyMs, 'p50'),
  batchJobsMost: own(RELAY_METRIC.batchJobs, 'Maximum'),
  gitLabSilentRuns: own(FUNCTION_METRIC.gitLabSilent, 'Sum'),

  ...LAMBDA_SERIES,
  admitRolloutErrors: aws('AWS/Lambda', 'rollout/admit', 'Errors', 'Sum'),
  settleRolloutErrors: aws('AWS/Lambda', 'rollout/settle', 'Errors', 'Sum'),
  consoleRolloutErrors: aws('AWS/Lambda', 'rollout/console', 'Errors', 'Sum'),
  // Milliseconds between a write to the table and its being worked off.
  settleAge: lambda('settle-stream', 'IteratorAge', 'Maximum'),
  rollupAge: lambda('rollup', 'IteratorAge', 'Maximum'),
  settleLetters: letters('settle-stream'),
  rollupLetters: letters('rollup'),

  readThrottles: table('ReadThrottleEvents'),
  writeThrottles: table('WriteThrottleEvents'),
  conflicts: table('TransactionConflict'),

  relayCpu: relay('CPUUtilization'),
  relayMemory: relay('MemoryUtilization'),

  consoleMsP99: lambda('console', 'Duration', 'p99'),
} as const satisfies Readonly<Record<string, Series>>;

export type SeriesName = keyof typeof SERIES;

const isSeries = (word: string): word is SeriesName => Object.hasOwn(SERIES, word);

/** The series that a formula is made of, each once. Functions are written in capitals, as CloudWatch has them. */
export function seriesIn(formula: string): readonly SeriesName[] {
  const words = formula.match(/[a-z]\w*/gi) ?? [];
  const named = words.filter((word) => word !== word.toUpperCase());
  const unknown = named.filter((word) => !isSeries(word));
  if (unknown.length > 0) throw new Error(`"${formula}": no series is called ${unknown.join(', ')}`);
  return [...new Set(named.filter(isSeries))];
}

/** Needs a metric of ours, which costs money and may be switched off. */
export const needsOwnMetrics = (formula: string): boolean =>
  seriesIn(formula).some((name) => SERIES[name].from === 'tollgate');
