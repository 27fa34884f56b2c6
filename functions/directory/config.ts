import {
  ENV_DYNAMODB_ENDPOINT,
  ENV_GITLAB_INSTANCE,
  ENV_GITLAB_TOKEN_PARAMETER,
  ENV_GITLAB_URL,
  ENV_LEDGER_TABLE,
} from '../names.ts';

export interface DirectoryConfig {
  readonly ledgerTable: string;
  readonly gitlabInstance: string;
  readonly gitlabUrl: string;
  /** Its token reads groups and projects of the whole instance. */
  readonly gitlabTokenParameter: string;
  /** Only for DynamoDB Local. */
  readonly dynamodbEndpoint: string | undefined;
}

/** @throws {Error} `[config_invalid]` listing every setting that is missing. */
export function readDirectoryConfig(env: Readonly<Record<string, string | undefined>>): DirectoryConfig {
  const missing = [ENV_LEDGER_TABLE, ENV_GITLAB_INSTANCE, ENV_GITLAB_URL, ENV_GITLAB_TOKEN_PARAMETER].filter(
    (name) => !env[name],
  );
  if (missing.length > 0) throw new Error(`[config_invalid] not set: ${missing.join(', ')}`);
  return {
    ledgerTable: env[ENV_LEDGER_TABLE] ?? '',
    gitlabInstance: env[ENV_GITLAB_INSTANCE] ?? '',
    gitlabUrl: env[ENV_GITLAB_URL] ?? '',
    gitlabTokenParameter: env[ENV_GITLAB_TOKEN_PARAMETER] ?? '',
    dynamodbEndpoint: env[ENV_DYNAMODB_ENDPOINT] || undefined,
  };
}
