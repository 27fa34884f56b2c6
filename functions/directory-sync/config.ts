import { type Environment, refuseInvalid, unset } from '../core/environment/index.ts';
import {
  ENV_DYNAMODB_ENDPOINT,
  ENV_GITLAB_INSTANCE,
  ENV_GITLAB_TOKEN_PARAMETER,
  ENV_GITLAB_URL,
  ENV_HOOK_TOKEN_PARAMETER,
  ENV_LEDGER_TABLE,
  ENV_WEBHOOK_SECRETS_PARAMETER,
  ENV_WEBHOOK_URL,
} from '../names.ts';

interface DirectoryConfig {
  readonly ledgerTable: string;
  readonly gitlabInstance: string;
  readonly gitlabUrl: string;
  /** Its token reads groups and projects of the whole instance. */
  readonly gitlabTokenParameter: string;
  /** Makes webhooks that are missing: where they go, with which token and secret. Undefined: it makes none. */
  readonly hooks:
    | { readonly url: string; readonly tokenParameter: string; readonly secretsParameter: string }
    | undefined;
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
    hooks: hooksIn(env),
    dynamodbEndpoint: env[ENV_DYNAMODB_ENDPOINT] || undefined,
  };
}

function hooksIn(env: Environment): DirectoryConfig['hooks'] {
  const [url, tokenParameter, secretsParameter] = [
    env[ENV_WEBHOOK_URL],
    env[ENV_HOOK_TOKEN_PARAMETER],
    env[ENV_WEBHOOK_SECRETS_PARAMETER],
  ];
  return url && tokenParameter && secretsParameter ? { url, tokenParameter, secretsParameter } : undefined;
}
