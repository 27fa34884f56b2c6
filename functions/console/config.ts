import {
  ENV_DYNAMODB_ENDPOINT,
  ENV_GITLAB_INSTANCE,
  ENV_LEDGER_TABLE,
  ENV_RULES_FILE,
  ENV_THRESHOLDS_TOPIC,
} from '../names.ts';
import { usageZone } from '../rollup/usage-zone.ts';
import { type Environment, unset } from '../shared/settings.ts';
import { readSignInConfig, type SignInConfig } from '../signin/config.ts';

export interface ConsoleConfig {
  readonly ledgerTable: string;
  readonly gitlabInstance: string;
  /** Of what the build packed. */
  readonly rulesFile: string;
  /** IANA zone of the days of usage; the rollup's. */
  readonly zone: string;
  readonly signIn: SignInConfig;
  /** ARN of the topic that owners listen to; absent: a report is mailed from the reader's own program. */
  readonly ownersTopicArn: string | undefined;
  /** Only for DynamoDB Local. */
  readonly dynamodbEndpoint: string | undefined;
}

/** @throws {Error} `[config_invalid]` listing every setting that is missing or wrong, the sign-in's too. */
export function readConsoleConfig(env: Environment): ConsoleConfig {
  const problems = unset(env, [ENV_LEDGER_TABLE, ENV_GITLAB_INSTANCE, ENV_RULES_FILE]);
  const zone = usageZone(env, problems);
  const signIn = readSignInConfig(env);
  if ('problems' in signIn) problems.push(...signIn.problems);
  if (problems.length > 0 || !('config' in signIn))
    throw new Error(`[config_invalid] ${problems.join('; ')}`);
  return {
    ledgerTable: env[ENV_LEDGER_TABLE] ?? '',
    gitlabInstance: env[ENV_GITLAB_INSTANCE] ?? '',
    rulesFile: env[ENV_RULES_FILE] ?? '',
    zone,
    signIn: signIn.config,
    ownersTopicArn: env[ENV_THRESHOLDS_TOPIC] || undefined,
    dynamodbEndpoint: env[ENV_DYNAMODB_ENDPOINT] || undefined,
  };
}
