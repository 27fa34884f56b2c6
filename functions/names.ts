/** Environment names of the functions. Strings only: cdk imports this file. */
export const ENV_LEDGER_TABLE = 'TOLLGATE_LEDGER_TABLE';
/** Begins every key of the table, e.g. `gitlab.example.com`. */
export const ENV_GITLAB_INSTANCE = 'TOLLGATE_GITLAB_INSTANCE';
/** Path of the compiled policy, limits and directory inside the bundle. */
export const ENV_RULES_FILE = 'TOLLGATE_RULES_FILE';
/** Only for DynamoDB Local. */
export const ENV_DYNAMODB_ENDPOINT = 'TOLLGATE_DYNAMODB_ENDPOINT';
