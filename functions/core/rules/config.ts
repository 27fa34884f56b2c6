import { ENV_DYNAMODB_ENDPOINT, ENV_GITLAB_INSTANCE, ENV_LEDGER_TABLE, ENV_RULES_FILE } from '../../names.ts';
import { type Environment, refuseInvalid, unset } from '../environment/index.ts';

interface AdmitConfig {
  readonly ledgerTable: string;
  readonly gitlabInstance: string;
  readonly rulesFile: string;
  /** Only for DynamoDB Local. */
  readonly dynamodbEndpoint: string | undefined;
}

/** @throws {Error} `[config_invalid]` listing every setting that is missing. */
export function readAdmitConfig(env: Environment): AdmitConfig {
  refuseInvalid(unset(env, [ENV_LEDGER_TABLE, ENV_GITLAB_INSTANCE, ENV_RULES_FILE]));
  return {
    ledgerTable: env[ENV_LEDGER_TABLE] ?? '',
    gitlabInstance: env[ENV_GITLAB_INSTANCE] ?? '',
    rulesFile: env[ENV_RULES_FILE] ?? '',
    dynamodbEndpoint: env[ENV_DYNAMODB_ENDPOINT] || undefined,
  };
}
