import { type Environment, refuseInvalid, unset } from '../core/environment/index.ts';
import {
  ENV_DYNAMODB_ENDPOINT,
  ENV_GITLAB_INSTANCE,
  ENV_LEDGER_TABLE,
  ENV_WEBHOOK_SECRETS_PARAMETER,
  ENV_WEBHOOK_TOKENS_PARAMETER,
} from '../names.ts';

interface SettleConfig {
  readonly ledgerTable: string;
  readonly gitlabInstance: string;
  readonly secretsParameter: string;
  /** Absent: only signatures are taken. */
  readonly tokensParameter: string | undefined;
  /** Only for DynamoDB Local. */
  readonly dynamodbEndpoint: string | undefined;
}

/** @throws {Error} `[config_invalid]` listing every setting that is missing. */
export function readSettleConfig(env: Environment): SettleConfig {
  refuseInvalid(unset(env, [ENV_LEDGER_TABLE, ENV_GITLAB_INSTANCE, ENV_WEBHOOK_SECRETS_PARAMETER]));
  return {
    ledgerTable: env[ENV_LEDGER_TABLE] ?? '',
    gitlabInstance: env[ENV_GITLAB_INSTANCE] ?? '',
    secretsParameter: env[ENV_WEBHOOK_SECRETS_PARAMETER] ?? '',
    tokensParameter: env[ENV_WEBHOOK_TOKENS_PARAMETER] || undefined,
    dynamodbEndpoint: env[ENV_DYNAMODB_ENDPOINT] || undefined,
  };
}
