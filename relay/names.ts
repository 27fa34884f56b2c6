/** Environment and metric names of the relay. Strings only: cdk imports this file. */

/** `grpc://`, `grpcs://`, `ws://` or `wss://` and the host of GitLab's job router. */
export const ENV_ROUTER_URL = 'TOLLGATE_ROUTER_URL';
/** File with the controller's `glrct-` token; read again for every call, so it may be replaced at run time. */
export const ENV_ROUTER_TOKEN_FILE = 'TOLLGATE_ROUTER_TOKEN_FILE';
/** The token itself, where no file can be mounted. */
export const ENV_ROUTER_TOKEN = 'TOLLGATE_ROUTER_TOKEN';
/** SSM SecureString with the token: read at the start, every ten minutes, and when the router refuses it. */
export const ENV_ROUTER_TOKEN_PARAMETER = 'TOLLGATE_ROUTER_TOKEN_PARAMETER';
/** `yes` lets the token and the jobs travel unencrypted to another host. */
export const ENV_ALLOW_PLAINTEXT_ROUTER = 'TOLLGATE_ALLOW_PLAINTEXT_ROUTER';
/** PEM file of a private authority that signed GitLab's certificates; the commands read it, too. */
export const ENV_CA_FILE = 'TOLLGATE_CA_FILE';
/** SSM parameter with the PEM text of that authority, in the place of a file. */
export const ENV_CA_PARAMETER = 'TOLLGATE_CA_PARAMETER';
/** SSM parameter with `user:password` for the proxy in `https_proxy`. Unset: the proxy wants none. */
export const ENV_PROXY_PARAMETER = 'TOLLGATE_PROXY_PARAMETER';
/** A `FileDescriptorSet` with GitLab's real schema; ours when unset. */
export const ENV_PROTO_FILE = 'TOLLGATE_PROTO_FILE';
/** Where bundle and image keep descriptors, below the relay's own folder. */
export const DESCRIPTORS_FOLDER = 'descriptors';
/**
 * How the service that decides is called: `plain` HTTP; `url`, a Lambda Function URL with signed calls; `invoke`, Lambda's
 * own API, for networks that reach no Function URL.
 */
export const ENV_ADMIT_ROUTE = 'TOLLGATE_ADMIT_ROUTE';
/** Name or ARN of the admit function, with a version or alias if it has one: for the route `invoke`. */
export const ENV_ADMIT_FUNCTION = 'TOLLGATE_ADMIT_FUNCTION';
/** Base URL of the service that decides, for the routes `plain` and `url`. */
export const ENV_ADMIT_URL = 'TOLLGATE_ADMIT_URL';
/** `yes` lets the jobs travel unencrypted to a service on another host. */
export const ENV_ALLOW_PLAINTEXT_ADMIT = 'TOLLGATE_ALLOW_PLAINTEXT_ADMIT';
/** From question to answer, milliseconds. */
export const ENV_DEADLINE_MS = 'TOLLGATE_DEADLINE_MS';
/** From question to answer for a job that waits for room, milliseconds. Unset: the deadline of all questions. */
export const ENV_ANSWER_WITHIN_MS = 'TOLLGATE_ANSWER_WITHIN_MS';
/** What cost and capacity rules do when the ledger is out of reach: `admit` or `reject`. */
export const ENV_FALLBACK = 'TOLLGATE_FALLBACK';
/** How many relays there are: each admits its share of what is left of limits while the ledger is out of reach. */
export const ENV_RELAYS = 'TOLLGATE_RELAYS';
/** The compiled policy, JSON. Absent: the relay can evaluate no security rule by itself. */
export const ENV_POLICY_FILE = 'TOLLGATE_POLICY_FILE';
/** DynamoDB table for the heartbeat that the watchdog reads. Unset: no heartbeat. */
export const ENV_HEARTBEAT_TABLE = 'TOLLGATE_HEARTBEAT_TABLE';
/** DynamoDB table for fallback answers that the function cannot be told of. Unset: they wait in memory alone. */
export const ENV_JOURNAL_TABLE = 'TOLLGATE_JOURNAL_TABLE';
/** Begins the keys of heartbeat and journal, as it begins every key of the table: `gitlab.example.com`. */
export const ENV_RELAY_GITLAB_INSTANCE = 'TOLLGATE_GITLAB_INSTANCE';
/** Containers on Fargate are told. */
export const ENV_AWS_REGION = 'AWS_REGION';
/** Endpoints of the services in the place of AWS's own, as the SDKs read them: for emulators. */
export const ENV_LAMBDA_ENDPOINT = 'AWS_ENDPOINT_URL_LAMBDA';
export const ENV_AWS_SSM_ENDPOINT = 'AWS_ENDPOINT_URL_SSM';
export const ENV_AWS_DYNAMODB_ENDPOINT = 'AWS_ENDPOINT_URL_DYNAMODB';
export const ENV_HEALTH_HOST = 'TOLLGATE_HEALTH_HOST';
export const ENV_HEALTH_PORT = 'TOLLGATE_HEALTH_PORT';
export const ENV_LOG_LEVEL = 'TOLLGATE_LOG_LEVEL';

/** Names this deployment in CloudWatch's metrics, e.g. `production`. Unset: none are written. */
export const ENV_RELAY_DEPLOYMENT = 'TOLLGATE_DEPLOYMENT';

/** For Prometheus, at `/metrics`. */
export const METRIC_STREAMS_OPEN = 'tollgate_relay_streams_open';
export const METRIC_STREAMS_WAITING = 'tollgate_relay_streams_waiting';
export const METRIC_RECONNECTS = 'tollgate_relay_reconnects_total';
export const METRIC_QUESTIONS = 'tollgate_relay_questions_total';
export const METRIC_DECISIONS = 'tollgate_relay_decisions_total';
export const METRIC_REJECTIONS = 'tollgate_relay_rejections_total';
export const METRIC_FALLBACK = 'tollgate_relay_fallback_total';
export const METRIC_UNHEARD = 'tollgate_relay_unheard_total';
export const METRIC_LATENCY = 'tollgate_relay_answer_latency_seconds';
export const METRIC_WAITING = 'tollgate_relay_waiting_jobs';
export const METRIC_WAIT = 'tollgate_relay_wait_seconds';
export const METRIC_BATCH_JOBS = 'tollgate_relay_batch_jobs';
export const METRIC_UNKNOWN_FIELDS = 'tollgate_relay_unknown_fields_total';
export const METRIC_UNREADABLE = 'tollgate_relay_unreadable_total';
export const METRIC_SUSPICIOUS = 'tollgate_relay_suspicious_total';
export const METRIC_IMPLAUSIBLE = 'tollgate_relay_implausible_total';
export const METRIC_SCHEMA_INFO = 'tollgate_relay_schema_info';
export const METRIC_SCHEMA_PROVEN = 'tollgate_relay_schema_proven';
export const METRIC_REJECTIONS_WITHHELD = 'tollgate_relay_rejections_withheld_total';
export const METRIC_ANSWERS_REFUSED = 'tollgate_relay_answers_refused_total';
export const METRIC_FIELDS_MISSING = 'tollgate_relay_fields_missing';
export const METRIC_OWN_FAULTS = 'tollgate_relay_own_faults_total';
export const METRIC_BREAKER = 'tollgate_relay_breaker_state';
export const METRIC_DIRECTORY_AGE = 'tollgate_relay_directory_age_seconds';
export const METRIC_UNMETERED_QUEUED = 'tollgate_relay_unmetered_queued';
export const METRIC_UNMETERED_POSTED = 'tollgate_relay_unmetered_posted_total';
export const METRIC_UNMETERED_JOURNALED = 'tollgate_relay_unmetered_journaled_total';
export const METRIC_UNMETERED_DROPPED = 'tollgate_relay_unmetered_dropped_total';

/**
 * For CloudWatch, beside the functions' in one namespace and under one dimension. Written by every relay every minute, zeros
 * included: without any, no relay lives. The two that measure something that happened are left out where nothing did.
 */
export const RELAY_QUESTIONS = {
  name: 'Questions',
  unit: 'Count',
  statistic: 'Sum',
  says: 'Questions the router asked.',
} as const;
export const RELAY_ADMITTED = {
  name: 'Admitted',
  unit: 'Count',
  statistic: 'Sum',
  says: 'Answers that let a job run, whoever decided.',
} as const;
export const RELAY_REJECTED = {
  name: 'Rejected',
  unit: 'Count',
  statistic: 'Sum',
  says: 'Answers that fail a job, whoever decided.',
} as const;
export const RELAY_FALLBACK_ANSWERS = {
  name: 'FallbackAnswers',
  unit: 'Count',
  statistic: 'Sum',
  says: 'Of all answers, those given without the ledger.',
} as const;
export const RELAY_UNREADABLE_QUESTIONS = {
  name: 'UnreadableQuestions',
  unit: 'Count',
  statistic: 'Sum',
  says: 'Questions that could not be decoded or name no job.',
} as const;
export const RELAY_SCHEMA_SUSPECT = {
  name: 'SchemaSuspect',
  unit: 'Count',
  statistic: 'Maximum',
  says: '1: a relay rejects nothing, because the router seems to speak another schema than its descriptors, or they are the placeholder.',
} as const;
export const RELAY_REJECTIONS_WITHHELD = {
  name: 'RejectionsWithheld',
  unit: 'Count',
  statistic: 'Sum',
  says: 'Jobs admitted that would have been rejected under a proven schema.',
} as const;
export const RELAY_ANSWERS_REFUSED = {
  name: 'AnswersRefused',
  unit: 'Count',
  statistic: 'Sum',
  says: 'Decisions that the router did not accept.',
} as const;
export const RELAY_FIELDS_MISSING = {
  name: 'FieldsMissing',
  unit: 'Count',
  statistic: 'Maximum',
  says: 'Fields that rules need and that GitLab does not send, or not any more.',
} as const;
export const RELAY_OWN_FAULTS = {
  name: 'OwnFaults',
  unit: 'Count',
  statistic: 'Sum',
  says: 'Times a part of the relay failed by its own mistake.',
} as const;
export const RELAY_STREAMS_OPEN = {
  name: 'StreamsOpen',
  unit: 'Count',
  statistic: 'Minimum',
  says: 'The fewest streams a relay had open at the router within its minute. One value a relay: the SampleCount of a minute is how many relays live.',
} as const;
export const RELAY_RECONNECTS = {
  name: 'Reconnects',
  unit: 'Count',
  statistic: 'Sum',
  says: 'Times a stream opened after a relay had had none.',
} as const;
export const RELAY_ANSWER_LATENCY_MS = {
  name: 'AnswerLatencyMs',
  unit: 'Milliseconds',
  statistic: 'p99',
  says: 'From question to answer, without what a job was kept waiting for room.',
} as const;
export const RELAY_WAITING = {
  name: 'Waiting',
  unit: 'Count',
  statistic: 'Maximum',
  says: 'Most jobs that one relay kept waiting for room; left out where none waited.',
} as const;
export const RELAY_WAIT_MS = {
  name: 'WaitMs',
  unit: 'Milliseconds',
  statistic: 'p99',
  says: 'How long jobs were kept waiting for room; left out where none waited.',
} as const;
export const RELAY_BATCH_JOBS = {
  name: 'BatchJobs',
  unit: 'Count',
  statistic: 'Average',
  says: 'Jobs per batch sent to the admit function.',
} as const;
export const RELAY_UNMETERED_QUEUED = {
  name: 'UnmeteredQueued',
  unit: 'Count',
  statistic: 'Maximum',
  says: 'Most fallback answers that waited in one relay to be told to the ledger.',
} as const;
export const RELAY_UNMETERED_DROPPED = {
  name: 'UnmeteredDropped',
  unit: 'Count',
  statistic: 'Sum',
  says: 'Fallback answers that the ledger never hears of: the queue was full, the service refused them for good, or the relay had to stop.',
} as const;

export const RELAY_DIRECTORY_AGE_SECONDS = {
  name: 'RelayDirectoryAgeSeconds',
  unit: 'Seconds',
  statistic: 'Maximum',
  says: 'How old the list of groups is that a relay would judge by alone; before it has one, since its start.',
} as const;

/** Written in the minutes in which jobs wait for room, and so no part of what a deployment costs that lets none wait. */
export const RELAY_WAITING_METRICS = [RELAY_WAITING, RELAY_WAIT_MS] as const;

/** All of them, for whoever shows or checks them. */
export const RELAY_METRICS = [
  RELAY_QUESTIONS,
  RELAY_ADMITTED,
  RELAY_REJECTED,
  RELAY_FALLBACK_ANSWERS,
  RELAY_UNREADABLE_QUESTIONS,
  RELAY_SCHEMA_SUSPECT,
  RELAY_REJECTIONS_WITHHELD,
  RELAY_ANSWERS_REFUSED,
  RELAY_FIELDS_MISSING,
  RELAY_OWN_FAULTS,
  RELAY_STREAMS_OPEN,
  RELAY_RECONNECTS,
  RELAY_ANSWER_LATENCY_MS,
  ...RELAY_WAITING_METRICS,
  RELAY_BATCH_JOBS,
  RELAY_UNMETERED_QUEUED,
  RELAY_UNMETERED_DROPPED,
  RELAY_DIRECTORY_AGE_SECONDS,
] as const;
