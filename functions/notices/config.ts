import { type Environment, refuseInvalid, unset, usageZone } from '../core/environment/settings.ts';
import {
  ENV_APPROVAL_KEY_PARAMETER,
  ENV_CHAT_WEBHOOKS_PARAMETER,
  ENV_CONSOLE_URL,
  ENV_DYNAMODB_ENDPOINT,
  ENV_GITLAB_INSTANCE,
  ENV_GITLAB_URL,
  ENV_LEDGER_TABLE,
  ENV_NOTE_TOKENS_PATH,
  ENV_RULES_FILE,
  ENV_THRESHOLDS_TOPIC,
} from '../names.ts';

interface NoticesConfig {
  readonly ledgerTable: string;
  readonly gitlabInstance: string;
  /** Rules packed by the build. */
  readonly rulesFile: string;
  /** ARN. */
  readonly topicArn: string;
  /** IANA zone of the rollup's days. */
  readonly zone: string;
  /** SSM parameter with the webhooks of chat channels, one per line. @default no chat */
  readonly chatParameter: string | undefined;
  /** SSM parameter with the key that signs links to requests. @default unsigned links */
  readonly approvalKeyParameter: string | undefined;
  /** SSM parameters below `tokensPath` are the tokens of groups. @default no notes in merge requests */
  readonly notes: { readonly gitlabUrl: string; readonly tokensPath: string } | undefined;
  /** @default messages without links */
  readonly consoleUrl: string | undefined;
  /** Only for DynamoDB Local. */
  readonly dynamodbEndpoint: string | undefined;
}

/** @throws {Error} `[config_invalid]` listing every setting that is missing or wrong. */
export function readNoticesConfig(env: Environment): NoticesConfig {
  const problems = unset(env, [ENV_LEDGER_TABLE, ENV_GITLAB_INSTANCE, ENV_RULES_FILE, ENV_THRESHOLDS_TOPIC]);
  const zone = usageZone(env, problems);
  const [gitlabUrl = '', tokensPath = ''] = [env[ENV_GITLAB_URL], env[ENV_NOTE_TOKENS_PATH]];
  if (tokensPath !== '') problems.push(...unset(env, [ENV_GITLAB_URL]));
  refuseInvalid(problems);
  return {
    ledgerTable: env[ENV_LEDGER_TABLE] ?? '',
    gitlabInstance: env[ENV_GITLAB_INSTANCE] ?? '',
    rulesFile: env[ENV_RULES_FILE] ?? '',
    topicArn: env[ENV_THRESHOLDS_TOPIC] ?? '',
    zone,
    chatParameter: env[ENV_CHAT_WEBHOOKS_PARAMETER] || undefined,
    approvalKeyParameter: env[ENV_APPROVAL_KEY_PARAMETER] || undefined,
    notes: tokensPath === '' ? undefined : { gitlabUrl, tokensPath },
    consoleUrl: env[ENV_CONSOLE_URL] || undefined,
    dynamodbEndpoint: env[ENV_DYNAMODB_ENDPOINT] || undefined,
  };
}
