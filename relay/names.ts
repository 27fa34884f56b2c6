/** Environment and CloudWatch metric names of the relay. Strings only: cdk imports this file. */

/** `grpc://`, `grpcs://`, `ws://` or `wss://`, and the host of GitLab's job router. */
export const ENV_ROUTER_URL = 'TOLLGATE_ROUTER_URL';
/** File with the controller's `glrct-` token. It may be replaced at run time. */
export const ENV_ROUTER_TOKEN_FILE = 'TOLLGATE_ROUTER_TOKEN_FILE';
export const ENV_ROUTER_TOKEN = 'TOLLGATE_ROUTER_TOKEN';
/** SSM SecureString with the token: read at the start, every ten minutes, and when the router refuses it. */
export const ENV_ROUTER_TOKEN_PARAMETER = 'TOLLGATE_ROUTER_TOKEN_PARAMETER';
/** `yes` lets the token and the jobs travel unencrypted to another host. */
export const ENV_ALLOW_PLAINTEXT_ROUTER = 'TOLLGATE_ALLOW_PLAINTEXT_ROUTER';
/** PEM file of a private authority that signed GitLab's certificates. The commands read it too. */
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
/** Name or ARN of the admit function, with a version or alias if it has one. For the route `invoke`. */
export const ENV_ADMIT_FUNCTION = 'TOLLGATE_ADMIT_FUNCTION';
export const ENV_ADMIT_URL = 'TOLLGATE_ADMIT_URL';
/** `yes` lets the jobs travel unencrypted to a service on another host. */
export const ENV_ALLOW_PLAINTEXT_ADMIT = 'TOLLGATE_ALLOW_PLAINTEXT_ADMIT';
export const ENV_DEADLINE_MS = 'TOLLGATE_DEADLINE_MS';
/** From request to answer for a job that waits for headroom, milliseconds. Unset: the deadline of all requests. */
export const ENV_ANSWER_WITHIN_MS = 'TOLLGATE_ANSWER_WITHIN_MS';
/** The decision of cost and capacity rules while the ledger is out of reach: `admit` or `reject`. */
export const ENV_FALLBACK = 'TOLLGATE_FALLBACK';
/** The number of relays. Each spends its share of the headroom while the ledger is out of reach. */
export const ENV_RELAYS = 'TOLLGATE_RELAYS';
/** The compiled policy, JSON. Unset: the relay evaluates no security rule itself. */
export const ENV_POLICY_FILE = 'TOLLGATE_POLICY_FILE';
/** DynamoDB table for the heartbeat that the watchdog reads. Unset: no heartbeat. */
export const ENV_HEARTBEAT_TABLE = 'TOLLGATE_HEARTBEAT_TABLE';
/** DynamoDB table for fallback decisions that the function does not take. Unset: they wait in memory alone. */
export const ENV_JOURNAL_TABLE = 'TOLLGATE_JOURNAL_TABLE';
/** The GitLab host, which begins every key of the table: `gitlab.example.com`. */
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
) => ({ name, unit, statistic });
const sum = <const Name extends string>(name: Name) => metric(name, 'Count', 'Sum');
const most = <const Name extends string>(name: Name) => metric(name, 'Count', 'Maximum');

/**
 * Metrics in CloudWatch, in the namespace and dimension of the functions. Every relay writes them every minute, zeros included, so
 * no data means that no relay lives. Latencies, waits and batch sizes are left out in a minute without any.
 */
export const RELAY_METRIC = {
  requests: sum('Requests'),
  admitted: sum('Admitted'),
  rejected: sum('Rejected'),
  /** Given without the ledger. */
  fallbackAnswers: sum('FallbackAnswers'),
  unreadableRequests: sum('UnreadableRequests'),
  /** 1: a relay rejects nothing, because recent requests contradict its descriptors, or they are the placeholder. */
  schemaSuspect: most('SchemaSuspect'),
  /** Jobs admitted that a proven schema would have rejected. */
  rejectionsWithheld: sum('RejectionsWithheld'),
  answersRefused: sum('AnswersRefused'),
  fieldsMissing: most('FieldsMissing'),
  ownFaults: sum('OwnFaults'),
  /** The fewest of a relay's minute. Each relay writes one value, so the SampleCount of a minute is the number of relays. */
  streamsOpen: metric('StreamsOpen', 'Count', 'Minimum'),
  /** Times a stream opened after a relay had had none. */
  reconnects: sum('Reconnects'),
  /** Without the time that a job waited for headroom. */
  answerLatencyMs: metric('AnswerLatencyMs', 'Milliseconds', 'p99'),
  /** The most that one relay kept waiting for headroom. */
  waiting: most('Waiting'),
  waitMs: metric('WaitMs', 'Milliseconds', 'p99'),
  batchJobs: metric('BatchJobs', 'Count', 'Average'),
  unmeteredQueued: most('UnmeteredQueued'),
  /** The ledger never learns of these: the queue was full, the service refused them for good, or the relay had to stop. */
  unmeteredDropped: sum('UnmeteredDropped'),
  /** Before the first list of groups: since the start. */
  relayDirectoryAgeSeconds: metric('RelayDirectoryAgeSeconds', 'Seconds', 'Maximum'),
} as const;

/** Written only in minutes in which jobs wait, so a deployment without waiting jobs does not pay for them. */
export const RELAY_WAITING_METRICS = [RELAY_METRIC.waiting, RELAY_METRIC.waitMs] as const;

export const RELAY_METRICS = Object.values(RELAY_METRIC);
