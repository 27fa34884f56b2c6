/** Environment and metric names of the relay. Strings only: cdk imports this file. */

/** `grpc://`, `grpcs://`, `ws://` or `wss://` and the host of GitLab's job router. */
export const ENV_ROUTER_URL = 'TOLLGATE_ROUTER_URL';
/** File with the controller's `glrct-` token; read again for every call, so it may be replaced at run time. */
export const ENV_ROUTER_TOKEN_FILE = 'TOLLGATE_ROUTER_TOKEN_FILE';
/** The token itself, where no file can be mounted. */
export const ENV_ROUTER_TOKEN = 'TOLLGATE_ROUTER_TOKEN';
/** `yes` lets the token and the jobs travel unencrypted to another host. */
export const ENV_ALLOW_PLAINTEXT_ROUTER = 'TOLLGATE_ALLOW_PLAINTEXT_ROUTER';
/** PEM file of a certificate authority to trust for the router, besides the system's. */
export const ENV_CA_FILE = 'TOLLGATE_CA_FILE';
/** A `FileDescriptorSet` with GitLab's real schema; ours when unset. */
export const ENV_PROTO_FILE = 'TOLLGATE_PROTO_FILE';
/** Base URL of the service that decides. */
export const ENV_ADMIT_URL = 'TOLLGATE_ADMIT_URL';
/** `yes` lets the jobs travel unencrypted to a service on another host. */
export const ENV_ALLOW_PLAINTEXT_ADMIT = 'TOLLGATE_ALLOW_PLAINTEXT_ADMIT';
/** From question to answer, milliseconds. */
export const ENV_DEADLINE_MS = 'TOLLGATE_DEADLINE_MS';
/** What cost and capacity rules do when the ledger is out of reach: `admit` or `reject`. */
export const ENV_FALLBACK = 'TOLLGATE_FALLBACK';
/** The compiled policy, JSON. Without it the relay can evaluate no security rule by itself. */
export const ENV_POLICY_FILE = 'TOLLGATE_POLICY_FILE';
export const ENV_HEALTH_HOST = 'TOLLGATE_HEALTH_HOST';
export const ENV_HEALTH_PORT = 'TOLLGATE_HEALTH_PORT';
export const ENV_LOG_LEVEL = 'TOLLGATE_LOG_LEVEL';

export const METRIC_STREAMS_OPEN = 'tollgate_relay_streams_open';
export const METRIC_STREAMS_WAITING = 'tollgate_relay_streams_waiting';
export const METRIC_RECONNECTS = 'tollgate_relay_reconnects_total';
export const METRIC_QUESTIONS = 'tollgate_relay_questions_total';
export const METRIC_DECISIONS = 'tollgate_relay_decisions_total';
export const METRIC_REJECTIONS = 'tollgate_relay_rejections_total';
export const METRIC_FALLBACK = 'tollgate_relay_fallback_total';
export const METRIC_UNHEARD = 'tollgate_relay_unheard_total';
export const METRIC_LATENCY = 'tollgate_relay_answer_latency_seconds';
export const METRIC_BATCH_JOBS = 'tollgate_relay_batch_jobs';
export const METRIC_UNKNOWN_FIELDS = 'tollgate_relay_unknown_fields_total';
export const METRIC_UNREADABLE = 'tollgate_relay_unreadable_total';
export const METRIC_SUSPICIOUS = 'tollgate_relay_suspicious_total';
export const METRIC_BREAKER = 'tollgate_relay_breaker_state';
export const METRIC_UNMETERED_QUEUED = 'tollgate_relay_unmetered_queued';
export const METRIC_UNMETERED_POSTED = 'tollgate_relay_unmetered_posted_total';
export const METRIC_UNMETERED_DROPPED = 'tollgate_relay_unmetered_dropped_total';
