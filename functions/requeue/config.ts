import { type Environment, refuseInvalid, unset } from '../core/environment/index.ts';
import {
  ENV_DYNAMODB_ENDPOINT,
  ENV_GITLAB_INSTANCE,
  ENV_GITLAB_URL,
  ENV_LEDGER_TABLE,
  ENV_REQUEUE_TOKENS_PATH,
  ENV_RULES_FILE,
} from '../names.ts';

interface RequeueConfig {
  readonly ledgerTable: string;
  readonly gitlabInstance: string;
  readonly rulesFile: string;
  readonly gitlabUrl: string;
  /** SSM parameters below it are the groups' tokens. */
  readonly tokensPath: string;
  /** Only for DynamoDB Local. */
  readonly dynamodbEndpoint: string | undefined;
}

/** @throws {Error} `[config_invalid]` listing every setting that is missing or wrong. */
export function readRequeueConfig(env: Environment): RequeueConfig {
  refuseInvalid(
    unset(env, [
      ...[ENV_LEDGER_TABLE, ENV_GITLAB_INSTANCE, ENV_RULES_FILE],
      ...[ENV_GITLAB_URL, ENV_REQUEUE_TOKENS_PATH],
    ]),
  );
  return {
    ledgerTable: env[ENV_LEDGER_TABLE] ?? '',
    gitlabInstance: env[ENV_GITLAB_INSTANCE] ?? '',
    rulesFile: env[ENV_RULES_FILE] ?? '',
    gitlabUrl: env[ENV_GITLAB_URL] ?? '',
    tokensPath: env[ENV_REQUEUE_TOKENS_PATH] ?? '',
    dynamodbEndpoint: env[ENV_DYNAMODB_ENDPOINT] || undefined,
  };
}
