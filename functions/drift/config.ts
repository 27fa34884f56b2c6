import { type Environment, refuseInvalid, unset } from '../core/environment/index.ts';
import { usageZone } from '../core/usage/index.ts';
import { ENV_DYNAMODB_ENDPOINT, ENV_GITLAB_INSTANCE, ENV_LEDGER_TABLE } from '../names.ts';

interface DriftConfig {
  readonly ledgerTable: string;
  readonly gitlabInstance: string;
  /** IANA zone of the days of usage. */
  readonly zone: string;
  /** Only for DynamoDB Local. */
  readonly dynamodbEndpoint: string | undefined;
}

/** @throws {Error} `[config_invalid]` listing every setting that is missing or wrong. */
export function readDriftConfig(env: Environment): DriftConfig {
  const problems = unset(env, [ENV_LEDGER_TABLE, ENV_GITLAB_INSTANCE]);
  const zone = usageZone(env, problems);
  refuseInvalid(problems);
  return {
    ledgerTable: env[ENV_LEDGER_TABLE] ?? '',
    gitlabInstance: env[ENV_GITLAB_INSTANCE] ?? '',
    zone,
    dynamodbEndpoint: env[ENV_DYNAMODB_ENDPOINT] || undefined,
  };
}
