/** Environment names of the functions. Strings only: cdk imports this file. */
export const ENV_LEDGER_TABLE = 'TOLLGATE_LEDGER_TABLE';
/** Begins every key of the table, e.g. `gitlab.example.com`. */
export const ENV_GITLAB_INSTANCE = 'TOLLGATE_GITLAB_INSTANCE';
/** Path of the compiled policy, limits and directory inside the bundle. */
export const ENV_RULES_FILE = 'TOLLGATE_RULES_FILE';
/** IANA zone in which the rollup's days begin and end. Unset: UTC. */
export const ENV_ROLLUP_ZONE = 'TOLLGATE_ROLLUP_ZONE';
export const ENV_GITLAB_URL = 'TOLLGATE_GITLAB_URL';
/** SSM parameter with a token that reads jobs and runners of the whole instance. */
export const ENV_GITLAB_TOKEN_PARAMETER = 'TOLLGATE_GITLAB_TOKEN_PARAMETER';
/** SSM parameter with the PEM text of a private authority that signed GitLab's certificate. Unset: public ones only. */
export const ENV_CA_PARAMETER = 'TOLLGATE_CA_PARAMETER';
/** SSM parameter with `user:password` for the proxy in `https_proxy`. Unset: the proxy wants none. */
export const ENV_PROXY_PARAMETER = 'TOLLGATE_PROXY_PARAMETER';
/** Charge of a job that GitLab no longer knows: `hold` or `nothing`. Unset: `nothing`. */
export const ENV_CHARGE_UNKNOWN = 'TOLLGATE_CHARGE_UNKNOWN';
/** Only for DynamoDB Local. */
export const ENV_DYNAMODB_ENDPOINT = 'TOLLGATE_DYNAMODB_ENDPOINT';
/** SSM parameter with the signing tokens of GitLab's job webhooks, one a line. */
export const ENV_WEBHOOK_SECRETS_PARAMETER = 'TOLLGATE_WEBHOOK_SECRETS_PARAMETER';
/** SSM parameter with values of `X-Gitlab-Token` to take as well, one a line. Unset: none. */
export const ENV_WEBHOOK_TOKENS_PARAMETER = 'TOLLGATE_WEBHOOK_TOKENS_PARAMETER';
export const ENV_WEBHOOK_URL = 'TOLLGATE_WEBHOOK_URL';
/** SSM parameter with a token that may make webhooks of groups. Unset: what is missing is only reported. */
export const ENV_HOOK_TOKEN_PARAMETER = 'TOLLGATE_HOOK_TOKEN_PARAMETER';
/** S3 bucket that decisions are kept in, outside the table. Unset: they are not. */
export const ENV_EXPORT_BUCKET = 'TOLLGATE_EXPORT_BUCKET';
export const ENV_THRESHOLDS_TOPIC = 'TOLLGATE_THRESHOLDS_TOPIC';

/** One item per relay, no part of the books: the relay writes it, the watchdog reads it. */
export const HEARTBEAT_PK_SUFFIX = '@heartbeat';
/** When the relay last said that it can be asked, Unix ms, and how many streams it had. */
export const HEARTBEAT_AT = 'at';
export const HEARTBEAT_STREAMS = 'os';
/** The relay's descriptors, if reported: source, hash, and status. */
export const HEARTBEAT_SCHEMA = 'sc';
export const HEARTBEAT_SCHEMA_HASH = 'sh';
export const HEARTBEAT_SCHEMA_STATE = 'ss';
export const HEARTBEAT_SCHEMA_PLACEHOLDER = 'sp';
/** Age of the relay's directory, ms: since all groups were listed. */
export const HEARTBEAT_DIRECTORY_AGE = 'da';
/** True if calls to the admit function were stopped. */
export const HEARTBEAT_BREAKER = 'br';
export const HEARTBEAT_POLICY = 'po';
/** Milliseconds: the longest an admission request is kept open. */
export const HEARTBEAT_ANSWER_WITHIN = 'aw';
/** JSON: lines of jobs that wait for room. */
export const HEARTBEAT_WAITING = 'wl';
/** `gitlab.example.com@rooms`, and one item per relay: what it knows to be left of limits, for relays that start in an outage. */
export const ROOMS_PK_SUFFIX = '@rooms';
/** JSON, gzipped. */
export const ROOMS_KEPT = 'kr';
/** `gitlab.example.com@health`, `look`: what the hourly health check found last. */
export const HEALTH_PK_SUFFIX = '@health';
/** `gitlab.example.com@watchdog`, `mark`: what the watchdog has seen and done. */
export const WATCHDOG_PK_SUFFIX = '@watchdog';
/** `gitlab.example.com@yet-failed`, `latest`: the job found last that was admitted, and that GitLab failed all the same. */
export const YET_FAILED_PK_SUFFIX = '@yet-failed';
export const YET_FAILED_JOB = 'jo';
export const YET_FAILED_AT = 'at';
/** `yes`: the watchdog disarms after such a job. Unset: it does not. */
export const ENV_DISARM_AFTER_FAILED_JOB = 'TOLLGATE_DISARM_AFTER_FAILED_JOB';
export const ENV_CONTROLLER_ID = 'TOLLGATE_CONTROLLER_ID';
/** The GitLab that the relays' descriptors are of, e.g. `18.9`. Unset: their lock names none. */
export const ENV_DESCRIPTORS_VERSION = 'TOLLGATE_DESCRIPTORS_VERSION';
/** SSM parameter with an administrator's token that may change the runner controller (scope `api`). */
export const ENV_CONTROLLER_TOKEN_PARAMETER = 'TOLLGATE_CONTROLLER_TOKEN_PARAMETER';
export const ENV_PAGE_TOPIC = 'TOLLGATE_PAGE_TOPIC';

export const PK = 'pk';
export const SK = 'sk';
/** Live jobs by due time; ended jobs have neither attribute and so leave the index. */
export const DUE_INDEX = 'due';
export const DUE_PK = 'duePk';
export const DUE_AT = 'dueAt';
/** The form every item says it was written in; see `versioned` in functions/core/store/operation.ts. */
export const VERSION_ATTRIBUTE = 'v';
export const ITEM_VERSION = '1';
/** Unix seconds. Garbage collection only: nothing is given back by it. */
export const TTL_ATTRIBUTE = 'ttl';
/** Sort keys of items for stream readers; received webhooks have `inbox` or `inbox#…`. */
export const RECORD_SK = 'record';
export const COUNTER_SK = 'counter';
export const INBOX_SK = 'inbox';
/** `gitlab.example.com#journal#…`: fallback decisions that relays write. */
export const JOURNAL_PK_PREFIX = '#journal#';
export const CLOSING_SK = 'closing';
export const ENTRY_SK_PREFIX = 'entry#';
/** Path below the settle function's URL that GitLab's job webhooks go to, followed by the number of the top-level group. */
export const WEBHOOK_PATH = '/v1/gitlab/jobs';
export const DIRECTORY_PK_SUFFIX = '@directory';
export const LIMITS_PK_SUFFIX = '@limits';
/** Published rules. No program writes them, only `tollgate policy publish`. */
export const RULES_PK_SUFFIX = '@rules';
/** Begins the keys of sheets: the usage of all groups on a day or in a month, packed. */
export const SHEETS_PK_SUFFIX = '@sheets';
/** `gitlab.example.com@statements` begins the keys of the months that were closed: written once, and never again. */
export const STATEMENTS_PK_SUFFIX = '@statements';
export const SESSIONS_PK_SUFFIX = '@sessions';
/** The keys of pseudonyms: only the recount may read them. */
export const PSEUDONYMS_PK_SUFFIX = '@pseudonyms';
/** The key of the snapshot of all counters, and of the log of changes since: `functions/core/usage/counter-snapshot.ts`. */
export const COUNTERS_PK_SUFFIX = '@counters';
export const COUNTER_LOG_PK_SUFFIX = '@counters#log';
export const NOTICES_PK_SUFFIX = '@notices';
/** Begin the keys of alert records: the rollup writes those of thresholds, the notices those of forecasts. */
export const THRESHOLD_ALERTS_PK_INFIX = '@alerts#crossings#';
export const FORECAST_ALERTS_PK_INFIX = '@alerts#forecasts#';
export const ENV_CONSOLE_URL = 'TOLLGATE_CONSOLE_URL';
/** Id of the application registered in GitLab for the console, and the SSM parameter with its secret. */
export const ENV_SIGNIN_CLIENT_ID = 'TOLLGATE_SIGNIN_CLIENT_ID';
export const ENV_SIGNIN_SECRET_PARAMETER = 'TOLLGATE_SIGNIN_SECRET_PARAMETER';
/** Id of the non-confidential application for sign-in from terminals. Unset: none. */
export const ENV_SIGNIN_DEVICE_CLIENT_ID = 'TOLLGATE_SIGNIN_DEVICE_CLIENT_ID';
/** Ids of the GitLab groups whose direct members are admins of Tollgate, and finance. Unset: none. */
export const ENV_ADMIN_GROUP_ID = 'TOLLGATE_ADMIN_GROUP_ID';
export const ENV_FINANCE_GROUP_ID = 'TOLLGATE_FINANCE_GROUP_ID';
/** Lowest role in a group that owns its limits: `maintainer` or `owner`. Unset: `maintainer`. */
export const ENV_OWNERS_FROM = 'TOLLGATE_OWNERS_FROM';
/** Lowest role that sees its figures: `guest`, `reporter` or `developer`. Unset: `developer`. */
export const ENV_VIEWERS_FROM = 'TOLLGATE_VIEWERS_FROM';
/** Proxies in front of the console, comma-separated: their `X-Forwarded-For` is trusted. Unset: none. */
export const ENV_TRUSTED_PROXIES = 'TOLLGATE_TRUSTED_PROXIES';
/** SSM parameter with the keys of links to requests, one a line: the first signs, all are taken. Unset: links are not signed. */
export const ENV_APPROVAL_KEY_PARAMETER = 'TOLLGATE_APPROVAL_KEY_PARAMETER';
/** SSM parameter with incoming webhooks of Slack and Teams for owners, one per line. Unset: none. */
export const ENV_CHAT_WEBHOOKS_PARAMETER = 'TOLLGATE_CHAT_WEBHOOKS_PARAMETER';
export const SSM_LIMITS_PK_SUFFIX = '@ssm-limits';
/** Path of the SSM parameters with limits of groups, e.g. `/tollgate/prod/limits`. */
export const ENV_LIMITS_PATH = 'TOLLGATE_LIMITS_PATH';
export const REQUEUE_PK_SUFFIX = '@requeue';
/** Path of the SSM parameters with the tokens of groups whose jobs are retried: `<path>/101`. */
export const ENV_REQUEUE_TOKENS_PATH = 'TOLLGATE_REQUEUE_TOKENS_PATH';
/** SSM parameters below it are the tokens of groups in whose merge requests notes are written. */
export const ENV_NOTE_TOKENS_PATH = 'TOLLGATE_NOTE_TOKENS_PATH';
export const ENV_SSM_ENDPOINT = 'TOLLGATE_SSM_ENDPOINT';

/** Names this deployment in the metrics, e.g. `production`. Unset: no metrics. */
export const ENV_DEPLOYMENT = 'TOLLGATE_DEPLOYMENT';
/** Every metric of functions and relay lies here, under this one dimension: each further set of dimensions costs extra. */
export const METRIC_NAMESPACE = 'Tollgate';
export const METRIC_DIMENSION = 'deployment';

// Metrics, with their most useful statistic. Zeros are not written.

export const newMetric = <
  const Name extends string,
  const Unit extends string,
  const Statistic extends string,
>(
  name: Name,
  unit: Unit,
  statistic: Statistic,
) => ({ name, unit, statistic });
export const sumMetric = <const Name extends string>(name: Name) => newMetric(name, 'Count', 'Sum');
export const maximumMetric = <const Name extends string>(name: Name) => newMetric(name, 'Count', 'Maximum');

export const FUNCTION_METRIC = {
  /** Admissions whose group is not in the directory, so only some of its limits applied. */
  unknownGroups: sumMetric('UnknownGroups'),
  /** Transactions tried again after a conflict, a throttle or no answer. */
  ledgerRetries: sumMetric('LedgerRetries'),
  /**
   * Ends of jobs that are longer than the timeout, charged up to it, or that a webhook reported for another group or at a wrong
   * time, not applied.
   */
  impossibleEnds: sumMetric('ImpossibleEnds'),
  /** The last valid limits stay. */
  limitsUnreadable: sumMetric('LimitsUnreadable'),
  /** For how long a part has known that it decides by older rules than the current ones. */
  rulesBehindSeconds: newMetric('RulesBehindSeconds', 'Seconds', 'Maximum'),
  /** Ends of known jobs that webhooks reported. */
  jobEvents: sumMetric('JobEvents'),
  /** From a job's end, by GitLab, to its charge. */
  settlementLagSeconds: newMetric('SettlementLagSeconds', 'Seconds', 'p99'),
  /** At most as many as one sweep looks at. */
  liveHolds: maximumMetric('LiveHolds'),
  /** The oldest hold that ought to have ended: since it was due. */
  oldestDueAgeSeconds: newMetric('OldestDueAgeSeconds', 'Seconds', 'Maximum'),
  /** 1: a sweep ended early because GitLab did not answer. It freed nothing. */
  gitLabSilent: maximumMetric('GitLabSilent'),
  /** Holds that a sweep ended because no webhook had. */
  healedBySweep: sumMetric('HealedBySweep'),
  /** Jobs that the job router failed after they were admitted here, each once. Their holds were given back. */
  admittedYetFailed: sumMetric('AdmittedYetFailed'),
  /** Jobs found by the sweep that ran without an admission: a share of RanJobs. */
  bypassJobs: sumMetric('BypassJobs'),
  /** Jobs on runners without a controller: charged nothing, and no part of RanJobs. */
  outOfScopeJobs: sumMetric('OutOfScopeJobs'),
  /** Jobs found by the sweep that ran or run, each about once. */
  ranJobs: sumMetric('RanJobs'),
  /** Counters that differ from their records, at the end of a round of the recount. 1: it is late. */
  driftedCounters: maximumMetric('DriftedCounters'),
  /** Findings of the hourly health check that no other alarm reports: tokens, licence, webhooks, clocks, scope, old descriptors. */
  healthProblems: maximumMetric('HealthProblems'),
  /** Items of the stream that are unreadable or could not be exported, and counters whose owners got no alert. */
  rollupLeftOut: maximumMetric('RollupLeftOut'),
  /** Since all groups were last listed completely. */
  directoryAgeSeconds: newMetric('DirectoryAgeSeconds', 'Seconds', 'Maximum'),
};

export const FUNCTION_METRICS = Object.values(FUNCTION_METRIC);
