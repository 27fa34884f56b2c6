/** Environment names of the functions. Strings only: cdk imports this file. */
export const ENV_LEDGER_TABLE = 'TOLLGATE_LEDGER_TABLE';
/** Begins every key of the table, e.g. `gitlab.example.com`. */
export const ENV_GITLAB_INSTANCE = 'TOLLGATE_GITLAB_INSTANCE';
/** Path of the compiled policy, limits and directory inside the bundle. */
export const ENV_RULES_FILE = 'TOLLGATE_RULES_FILE';
/** IANA zone in which the rollup's days begin and end. Unset: UTC. */
export const ENV_ROLLUP_ZONE = 'TOLLGATE_ROLLUP_ZONE';
/** Where GitLab's REST API answers, e.g. `https://gitlab.example.com`. */
export const ENV_GITLAB_URL = 'TOLLGATE_GITLAB_URL';
/** SSM parameter with a token that reads jobs and runners of the whole instance. */
export const ENV_GITLAB_TOKEN_PARAMETER = 'TOLLGATE_GITLAB_TOKEN_PARAMETER';
/** What a job is charged that GitLab does not know any more: `hold` or `nothing`. Unset: `nothing`. */
export const ENV_CHARGE_UNKNOWN = 'TOLLGATE_CHARGE_UNKNOWN';
/** Only for DynamoDB Local. */
export const ENV_DYNAMODB_ENDPOINT = 'TOLLGATE_DYNAMODB_ENDPOINT';
/** SSM parameter with the signing tokens of GitLab's job webhooks, one a line. */
export const ENV_WEBHOOK_SECRETS_PARAMETER = 'TOLLGATE_WEBHOOK_SECRETS_PARAMETER';
/** SSM parameter with values of `X-Gitlab-Token` to take as well, one a line. Unset: none. */
export const ENV_WEBHOOK_TOKENS_PARAMETER = 'TOLLGATE_WEBHOOK_TOKENS_PARAMETER';
/** ARN of the SNS topic that owners of limits listen to. */
export const ENV_THRESHOLDS_TOPIC = 'TOLLGATE_THRESHOLDS_TOPIC';
