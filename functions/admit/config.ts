import { ENV_DYNAMODB_ENDPOINT, ENV_GITLAB_INSTANCE, ENV_LEDGER_TABLE, ENV_RULES_FILE } from '../names.ts';

export interface AdmitConfig {
  readonly ledgerTable: string;
  readonly gitlabInstance: string;
  readonly rulesFile: string;
  /** Only for DynamoDB Local. */
  readonly dynamodbEndpoint: string | undefined;
}

/** @throws {Error} `[config_invalid]` listing every setting that is missing. */
export function readAdmitConfig(env: Readonly<Record<string, string | undefined>>): AdmitConfig {
  const missing = [ENV_LEDGER_TABLE, ENV_GITLAB_INSTANCE, ENV_RULES_FILE].filter((name) => !env[name]);
  if (missing.length > 0) throw new Error(`[config_invalid] not set: ${missing.join(', ')}`);
  return {
    ledgerTable: env[ENV_LEDGER_TABLE] ?? '',
    gitlabInstance: env[ENV_GITLAB_INSTANCE] ?? '',
    rulesFile: env[ENV_RULES_FILE] ?? '',
    dynamodbEndpoint: env[ENV_DYNAMODB_ENDPOINT] || undefined,
  };
}
