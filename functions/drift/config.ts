import { type Environment, refuseInvalid, unset } from '../core/environment/index.ts';
import { usageZone } from '../core/usage/index.ts';
import { ENV_DYNAMODB_ENDPOINT, ENV_GITLAB_INSTANCE, ENV_LEDGER_TABLE, ENV_RULES_FILE } from '../names.ts';

interface DriftConfig {
  readonly ledgerTable: string;
  readonly gitlabInstance: string;
  /** The rules that the build packed. */
  readonly rulesFile: string;
  /** IANA zone of the days of usage. */
  readonly zone: string;
  /** Only for DynamoDB Local. */
  readonly dynamodbEndpoint: string | undefined;
}

/** @throws {Error} `[config_invalid]` listing every setting that is missing or wrong. */
export function readDriftConfig(env: Environment): DriftConfig {
  const problems = unset(env, [ENV_LEDGER_TABLE, ENV_GITLAB_INSTANCE, ENV_RULES_FILE]);
  const zone = usageZone(env, problems);
  refuseInvalid(problems);
  return {
    ledgerTable: env[ENV_LEDGER_TABLE] ?? '',
    gitlabInstance: env[ENV_GITLAB_INSTANCE] ?? '',
    rulesFile: env[ENV_RULES_FILE] ?? '',
    zone,
    dynamodbEndpoint: env[ENV_DYNAMODB_ENDPOINT] || undefined,
  };
}
