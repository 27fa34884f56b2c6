import { controllerIdIn, type Environment, refuseInvalid, unset } from '../core/environment/index.ts';
import {
  ENV_CONTROLLER_ID,
  ENV_CONTROLLER_TOKEN_PARAMETER,
  ENV_DISARM_AFTER_FAILED_JOB,
  ENV_DYNAMODB_ENDPOINT,
  ENV_GITLAB_INSTANCE,
  ENV_GITLAB_URL,
  ENV_LEDGER_TABLE,
  ENV_PAGE_TOPIC,
} from '../names.ts';

interface WatchdogConfig {
  readonly ledgerTable: string;
  readonly gitlabInstance: string;
  readonly gitlabUrl: string;
  readonly controllerId: number;
  readonly controllerTokenParameter: string;
  readonly pageTopic: string;
  /** True if an admitted job that failed disarms the controller. */
  readonly disarmsAfterFailedJob: boolean;
  /** Only for DynamoDB Local. */
  readonly dynamodbEndpoint: string | undefined;
}

/** @throws {Error} `[config_invalid]` listing every setting that is missing or wrong. */
export function readWatchdogConfig(env: Environment): WatchdogConfig {
  const problems = unset(env, [
    ENV_LEDGER_TABLE,
    ENV_GITLAB_INSTANCE,
    ENV_GITLAB_URL,
    ENV_CONTROLLER_ID,
    ENV_CONTROLLER_TOKEN_PARAMETER,
    ENV_PAGE_TOPIC,
  ]);
  const controllerId = controllerIdIn(env, problems) ?? 0;
  refuseInvalid(problems);
  return {
    ledgerTable: env[ENV_LEDGER_TABLE] ?? '',
    gitlabInstance: env[ENV_GITLAB_INSTANCE] ?? '',
    gitlabUrl: env[ENV_GITLAB_URL] ?? '',
    controllerId,
    controllerTokenParameter: env[ENV_CONTROLLER_TOKEN_PARAMETER] ?? '',
    pageTopic: env[ENV_PAGE_TOPIC] ?? '',
    disarmsAfterFailedJob: env[ENV_DISARM_AFTER_FAILED_JOB] === 'yes',
    dynamodbEndpoint: env[ENV_DYNAMODB_ENDPOINT] || undefined,
  };
}
