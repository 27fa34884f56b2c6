/** Environment and CloudWatch metric names of the relay. Strings only: cdk imports this file. */

export const ENV_ROUTER_URL = 'TOLLGATE_ROUTER_URL';
export const ENV_ROUTER_TOKEN_FILE = 'TOLLGATE_ROUTER_TOKEN_FILE';
export const ENV_ROUTER_TOKEN = 'TOLLGATE_ROUTER_TOKEN';
/** SSM SecureString with the token: read at the start, every ten minutes, and when the router refuses it. */
export const ENV_ROUTER_TOKEN_PARAMETER = 'TOLLGATE_ROUTER_TOKEN_PARAMETER';
/** `yes` lets the token and the jobs travel unencrypted to another host. */
export const ENV_ALLOW_PLAINTEXT_ROUTER = 'TOLLGATE_ALLOW_PLAINTEXT_ROUTER';
export const ENV_CA_FILE = 'TOLLGATE_CA_FILE';
export const ENV_CA_PARAMETER = 'TOLLGATE_CA_PARAMETER';
/** SSM parameter with `user:password` for the proxy in `https_proxy`. Unset: the proxy asks for none. */
export const ENV_PROXY_PARAMETER = 'TOLLGATE_PROXY_PARAMETER';
/** A `FileDescriptorSet` with GitLab's schema. Unset: the placeholder of this repository. */
export const ENV_PROTO_FILE = 'TOLLGATE_PROTO_FILE';
export const DESCRIPTORS_FOLDER = 'descriptors';
/**
 * The route to the admit function: `plain` HTTP; `url`, a Lambda Function URL with signed calls; `invoke`, Lambda's own API, for
 * networks that reach no Function URL.
 */
export const ENV_ADMIT_ROUTE = 'TOLLGATE_ADMIT_ROUTE';
export const ENV_ADMIT_FUNCTION = 'TOLLGATE_ADMIT_FUNCTION';
export const ENV_ADMIT_URL = 'TOLLGATE_ADMIT_URL';
/** `yes` lets the jobs travel unencrypted to a service on another host. */
export const ENV_ALLOW_PLAINTEXT_ADMIT = 'TOLLGATE_ALLOW_PLAINTEXT_ADMIT';
export const ENV_DEADLINE_MS = 'TOLLGATE_DEADLINE_MS';
/** From question to answer for a job that waits for headroom, milliseconds. Unset: the deadline of all questions. */
export const ENV_ANSWER_WITHIN_MS = 'TOLLGATE_ANSWER_WITHIN_MS';
export const ENV_FALLBACK = 'TOLLGATE_FALLBACK';
export const ENV_RELAYS = 'TOLLGATE_RELAYS';
export const ENV_POLICY_FILE = 'TOLLGATE_POLICY_FILE';
/** DynamoDB table for the heartbeat that the watchdog reads. Unset: no heartbeat. */
export const ENV_HEARTBEAT_TABLE = 'TOLLGATE_HEARTBEAT_TABLE';
/** DynamoDB table for fallback decisions that the function does not take. Unset: they wait in memory alone. */
export const ENV_JOURNAL_TABLE = 'TOLLGATE_JOURNAL_TABLE';
export const ENV_RELAY_GITLAB_INSTANCE = 'TOLLGATE_GITLAB_INSTANCE';
export const ENV_AWS_REGION = 'AWS_REGION';
/** Endpoints of emulators instead of AWS, as the SDKs read them. */
export const ENV_LAMBDA_ENDPOINT = 'AWS_ENDPOINT_URL_LAMBDA';
export const ENV_AWS_SSM_ENDPOINT = 'AWS_ENDPOINT_URL_SSM';
export const ENV_AWS_DYNAMODB_ENDPOINT = 'AWS_ENDPOINT_URL_DYNAMODB';
export const ENV_HEALTH_HOST = 'TOLLGATE_HEALTH_HOST';
export const ENV_HEALTH_PORT = 'TOLLGATE_HEALTH_PORT';
export const ENV_LOG_LEVEL = 'TOLLGATE_LOG_LEVEL';

/** The deployment in CloudWatch metrics, e.g. `production`. Unset: the relay writes none. */
export const ENV_RELAY_DEPLOYMENT = 'TOLLGATE_DEPLOYMENT';

const metric = <const Name extends string, const Unit extends string, const Statistic extends string>(
  name: Name,
  unit: Unit,
  statistic: Statistic,
  says: string,
) => ({ name, unit, statistic, says });
const sum = <const Name extends string>(name: Name, says: string) => metric(name, 'Count', 'Sum', says);
const most = <const Name extends string>(name: Name, says: string) => metric(name, 'Count', 'Maximum', says);

/**
 * Metrics in CloudWatch, in the namespace and dimension of the functions. Every relay writes them every minute, zeros included, so
 * no data means that no relay lives. Latencies, waits and batch sizes are left out in a minute without any.
 */
export const RELAY_METRIC = {
  questions: sum('Questions', 'Questions the router asked.'),
  admitted: sum('Admitted', 'Answers that let a job run, whoever decided.'),
  rejected: sum('Rejected', 'Answers that fail a job, whoever decided.'),
  fallbackAnswers: sum('FallbackAnswers', 'Of all answers, those given without the ledger.'),
  unreadableQuestions: sum('UnreadableQuestions', 'Questions that could not be decoded or name no job.'),
  schemaSuspect: most(
    'SchemaSuspect',
    '1: a relay rejects nothing, because the router seems to speak another schema than its descriptors, or they are the placeholder.',
  ),
  rejectionsWithheld: sum(
    'RejectionsWithheld',
    'Jobs admitted that would have been rejected under a proven schema.',
  ),
  answersRefused: sum('AnswersRefused', 'Decisions that the router did not accept.'),
  fieldsMissing: most(
    'FieldsMissing',
    'Fields that rules need and that GitLab does not send, or not any more.',
  ),
  ownFaults: sum('OwnFaults', 'Times a part of the relay failed by its own mistake.'),
  streamsOpen: metric(
    'StreamsOpen',
    'Count',
    'Minimum',
    'The fewest streams a relay had open at the router within its minute. One value a relay: the SampleCount of a minute is how many relays live.',
  ),
  reconnects: sum('Reconnects', 'Times a stream opened after a relay had had none.'),
  answerLatencyMs: metric(
    'AnswerLatencyMs',
    'Milliseconds',
    'p99',
    'From question to answer, without what a job was kept waiting for room.',
  ),
  waiting: most('Waiting', 'Most jobs that one relay kept waiting for room; left out where none waited.'),
  waitMs: metric(
    'WaitMs',
    'Milliseconds',
    'p99',
    'How long jobs were kept waiting for room; left out where none waited.',
  ),
  batchJobs: metric('BatchJobs', 'Count', 'Average', 'Jobs per batch sent to the admit function.'),
  unmeteredQueued: most(
    'UnmeteredQueued',
    'Most fallback answers that waited in one relay to be told to the ledger.',
  ),
  unmeteredDropped: sum(
    'UnmeteredDropped',
    'Fallback answers that the ledger never hears of: the queue was full, the service refused them for good, or the relay had to stop.',
  ),
  relayDirectoryAgeSeconds: metric(
    'RelayDirectoryAgeSeconds',
    'Seconds',
    'Maximum',
    'How old the list of groups is that a relay would judge by alone; before it has one, since its start.',
  ),
} as const;

/** Written only in minutes in which jobs wait, so a deployment without waiting jobs does not pay for them. */
export const RELAY_WAITING_METRICS = [RELAY_METRIC.waiting, RELAY_METRIC.waitMs] as const;

export const RELAY_METRICS = Object.values(RELAY_METRIC);
