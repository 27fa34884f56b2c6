import { controllerIdIn, type Environment, refuseInvalid, unset } from '../core/environment/index.ts';
import { usageZone } from '../core/usage/index.ts';
import {
  ENV_DESCRIPTORS_VERSION,
  ENV_DYNAMODB_ENDPOINT,
  ENV_GITLAB_INSTANCE,
  ENV_GITLAB_TOKEN_PARAMETER,
  ENV_GITLAB_URL,
  ENV_LEDGER_TABLE,
  ENV_RULES_FILE,
  ENV_WEBHOOK_URL,
} from '../names.ts';

interface DoctorConfig {
  readonly ledgerTable: string;
  readonly gitlabInstance: string;
  /** Its policy is the one that all functions have. */
  readonly rulesFile: string;
  readonly gitlabUrl: string;
  readonly gitlabTokenParameter: string;
  readonly webhookUrl: string;
  /** Undefined: the only one that GitLab has. */
  readonly controllerId: number | undefined;
  /** The GitLab that the descriptors are of: `18.9`. Undefined: their lock names none. */
  readonly descriptorsVersion: string | undefined;
  /** IANA zone of the days of usage. */
  readonly zone: string;
  /** Only for DynamoDB Local. */
  readonly dynamodbEndpoint: string | undefined;
}

/** @throws {Error} `[config_invalid]` listing every setting that is missing or wrong. */
export function readDoctorConfig(env: Environment): DoctorConfig {
  const problems = unset(env, [
    ENV_LEDGER_TABLE,
    ENV_GITLAB_INSTANCE,
    ENV_RULES_FILE,
    ENV_GITLAB_URL,
    ENV_GITLAB_TOKEN_PARAMETER,
    ENV_WEBHOOK_URL,
  ]);
  const zone = usageZone(env, problems);
  const controllerId = controllerIdIn(env, problems);
  refuseInvalid(problems);
  return {
    ledgerTable: env[ENV_LEDGER_TABLE] ?? '',
    gitlabInstance: env[ENV_GITLAB_INSTANCE] ?? '',
    rulesFile: env[ENV_RULES_FILE] ?? '',
    gitlabUrl: env[ENV_GITLAB_URL] ?? '',
    gitlabTokenParameter: env[ENV_GITLAB_TOKEN_PARAMETER] ?? '',
    webhookUrl: env[ENV_WEBHOOK_URL] ?? '',
    descriptorsVersion: env[ENV_DESCRIPTORS_VERSION] || undefined,
    dynamodbEndpoint: env[ENV_DYNAMODB_ENDPOINT] || undefined,
    ...{ controllerId, zone },
  };
}
