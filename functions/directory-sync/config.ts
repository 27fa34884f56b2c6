import { type Environment, refuseInvalid, unset } from '../core/environment/index.ts';
import {
  ENV_DYNAMODB_ENDPOINT,
  ENV_GITLAB_INSTANCE,
  ENV_GITLAB_TOKEN_PARAMETER,
  ENV_GITLAB_URL,
  ENV_LEDGER_TABLE,
} from '../names.ts';

interface DirectoryConfig {
  readonly ledgerTable: string;
  readonly gitlabInstance: string;
  readonly gitlabUrl: string;
  /** Its token reads groups and projects of the whole instance. */
  readonly gitlabTokenParameter: string;
  /** Only for DynamoDB Local. */
  readonly dynamodbEndpoint: string | undefined;
}

/** @throws {Error} `[config_invalid]` listing every setting that is missing. */
export function readDirectoryConfig(env: Environment): DirectoryConfig {
  refuseInvalid(
    unset(env, [ENV_LEDGER_TABLE, ENV_GITLAB_INSTANCE, ENV_GITLAB_URL, ENV_GITLAB_TOKEN_PARAMETER]),
  );
  return {
    ledgerTable: env[ENV_LEDGER_TABLE] ?? '',
    gitlabInstance: env[ENV_GITLAB_INSTANCE] ?? '',
    gitlabUrl: env[ENV_GITLAB_URL] ?? '',
    gitlabTokenParameter: env[ENV_GITLAB_TOKEN_PARAMETER] ?? '',
    dynamodbEndpoint: env[ENV_DYNAMODB_ENDPOINT] || undefined,
  };
}
