import { isZone } from '../../policies/limits/zone.ts';
import {
  ENV_DYNAMODB_ENDPOINT,
  ENV_GITLAB_INSTANCE,
  ENV_LEDGER_TABLE,
  ENV_ROLLUP_ZONE,
  ENV_RULES_FILE,
  ENV_THRESHOLDS_TOPIC,
} from '../names.ts';
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
export function readConsoleConfig(env: Readonly<Record<string, string | undefined>>): ConsoleConfig {
  const problems = [ENV_LEDGER_TABLE, ENV_GITLAB_INSTANCE, ENV_RULES_FILE].flatMap((name) =>
    env[name] ? [] : [`${name} is not set`],
  );
  const zone = env[ENV_ROLLUP_ZONE] || 'UTC';
  if (!isZone(zone))
    problems.push(`${ENV_ROLLUP_ZONE} is "${zone}"; expected an IANA zone such as Europe/Berlin`);
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
