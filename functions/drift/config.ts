import { ENV_DYNAMODB_ENDPOINT, ENV_GITLAB_INSTANCE, ENV_LEDGER_TABLE } from '../names.ts';
import { type Environment, refuseInvalid, unset } from '../shared/settings.ts';

export interface DriftConfig {
  readonly ledgerTable: string;
  readonly gitlabInstance: string;
  /** Only for DynamoDB Local. */
  readonly dynamodbEndpoint: string | undefined;
}

/** @throws {Error} `[config_invalid]` listing every setting that is missing. */
export function readDriftConfig(env: Environment): DriftConfig {
  refuseInvalid(unset(env, [ENV_LEDGER_TABLE, ENV_GITLAB_INSTANCE]));
  return {
    ledgerTable: env[ENV_LEDGER_TABLE] ?? '',
    gitlabInstance: env[ENV_GITLAB_INSTANCE] ?? '',
    dynamodbEndpoint: env[ENV_DYNAMODB_ENDPOINT] || undefined,
  };
}
