/** Environment and CloudWatch metric names of the relay. Strings only: cdk imports this file. */

import { maximumMetric, newMetric, sumMetric } from '../functions/names.ts';

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
/** Users notice a runner's poll that takes longer. */
export const DEADLINE_MS = { min: 200, max: 10_000, fallback: 2_000 } as const;
/** From request to answer for a job that waits for headroom, milliseconds. Unset: the deadline of all requests. */
export const ENV_ANSWER_WITHIN_MS = 'TOLLGATE_ANSWER_WITHIN_MS';
/** The router times out after some 20 s, as observed. The relay gives a stream up after 30 s. */
export const ANSWER_WITHIN_MS = { min: 200, max: 25_000 } as const;
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

/**
 * Metrics in CloudWatch, in the namespace and dimension of the functions. Every relay writes them every minute, without zeros: no
 * StreamsOpen means that no relay has a stream.
 */
export const RELAY_METRIC = {
  requests: sumMetric('Requests'),
  admitted: sumMetric('Admitted'),
  rejected: sumMetric('Rejected'),
  /** Given without the ledger. */
  fallbackAnswers: sumMetric('FallbackAnswers'),
  unreadableRequests: sumMetric('UnreadableRequests'),
  /** 1: a relay rejects nothing, because recent requests contradict its descriptors, or they are the placeholder. */
  schemaSuspect: maximumMetric('SchemaSuspect'),
  /** Jobs admitted that a proven schema would have rejected. */
  rejectionsWithheld: sumMetric('RejectionsWithheld'),
  answersRefused: sumMetric('AnswersRefused'),
  fieldsMissing: maximumMetric('FieldsMissing'),
  ownFaults: sumMetric('OwnFaults'),
  /** The fewest of a relay's minute. The SampleCount of a minute is the number of relays that had one throughout. */
  streamsOpen: newMetric('StreamsOpen', 'Count', 'Minimum'),
  /** Times a stream opened after a relay had had none. */
  reconnects: sumMetric('Reconnects'),
  /** Without the time that a job waited for headroom. */
  answerLatencyMs: newMetric('AnswerLatencyMs', 'Milliseconds', 'p99'),
  /** The most that one relay kept waiting for headroom. */
  waiting: maximumMetric('Waiting'),
  waitMs: newMetric('WaitMs', 'Milliseconds', 'p99'),
  batchJobs: newMetric('BatchJobs', 'Count', 'Average'),
  unmeteredQueued: maximumMetric('UnmeteredQueued'),
  /** The ledger never learns of these: the queue was full, the service refused them for good, or the relay had to stop. */
  unmeteredDropped: sumMetric('UnmeteredDropped'),
  /** From 15 minutes on. Before the first list of groups: since the start. */
  relayDirectoryAgeSeconds: newMetric('RelayDirectoryAgeSeconds', 'Seconds', 'Maximum'),
} as const;

export const RELAY_METRICS = Object.values(RELAY_METRIC);
