import { type Environment, refuseInvalid, unset } from '../core/environment/settings.ts';
import {
  ENV_DYNAMODB_ENDPOINT,
  ENV_GITLAB_INSTANCE,
  ENV_LEDGER_TABLE,
  ENV_LIMITS_PATH,
  ENV_RULES_FILE,
  ENV_SSM_ENDPOINT,
} from '../names.ts';

interface SsmLimitsConfig {
  readonly ledgerTable: string;
  readonly gitlabInstance: string;
  /** The rules that the build packed. */
  readonly rulesFile: string;
  /** `/tollgate/prod/limits` */
  readonly limitsPath: string;
  /** Only for DynamoDB Local. */
  readonly dynamodbEndpoint: string | undefined;
  /** Only for a stand-in of Parameter Store. */
  readonly ssmEndpoint: string | undefined;
}

const NEEDED = [ENV_LEDGER_TABLE, ENV_GITLAB_INSTANCE, ENV_RULES_FILE, ENV_LIMITS_PATH];

/** @throws {Error} `[config_invalid]` listing every setting that is missing or wrong. */
export function readSsmLimitsConfig(env: Environment): SsmLimitsConfig {
  const problems = unset(env, NEEDED);
  const limitsPath = env[ENV_LIMITS_PATH] ?? '';
  if (limitsPath !== '' && !/^(\/[\w.-]+)+$/.test(limitsPath))
    problems.push(`${ENV_LIMITS_PATH} is "${limitsPath}"; expected a path such as /tollgate/prod/limits`);
  refuseInvalid(problems);
  return {
    ledgerTable: env[ENV_LEDGER_TABLE] ?? '',
    gitlabInstance: env[ENV_GITLAB_INSTANCE] ?? '',
    rulesFile: env[ENV_RULES_FILE] ?? '',
    limitsPath,
    dynamodbEndpoint: env[ENV_DYNAMODB_ENDPOINT] || undefined,
    ssmEndpoint: env[ENV_SSM_ENDPOINT] || undefined,
  };
}
