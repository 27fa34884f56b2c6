import { controllerIdIn, type Environment, refuseInvalid, unset } from '../core/environment/index.ts';
import {
  ENV_CHARGE_UNKNOWN,
  ENV_DYNAMODB_ENDPOINT,
  ENV_GITLAB_INSTANCE,
  ENV_GITLAB_TOKEN_PARAMETER,
  ENV_GITLAB_URL,
  ENV_LEDGER_TABLE,
  ENV_RULES_FILE,
} from '../names.ts';

interface SweepConfig {
  readonly ledgerTable: string;
  readonly gitlabInstance: string;
  /** Rules for bypassed jobs, which are charged by today's rules. */
  readonly rulesFile: string;
  readonly gitlabUrl: string;
  readonly gitlabTokenParameter: string;
  /** Number of the runner controller, whose scope decides what is a bypass. */
  readonly controllerId: number | undefined;
  readonly chargeUnknown: 'hold' | 'nothing';
  /** Only for DynamoDB Local. */
  readonly dynamodbEndpoint: string | undefined;
}

/** @throws {Error} `[config_invalid]` listing every setting that is missing or wrong. */
export function readSweepConfig(env: Environment): SweepConfig {
  const problems = unset(env, [
    ENV_LEDGER_TABLE,
    ENV_GITLAB_INSTANCE,
    ENV_RULES_FILE,
    ENV_GITLAB_URL,
    ENV_GITLAB_TOKEN_PARAMETER,
  ]);
  const chargeUnknown = env[ENV_CHARGE_UNKNOWN] || 'nothing';
  if (chargeUnknown !== 'hold' && chargeUnknown !== 'nothing') {
    problems.push(`${ENV_CHARGE_UNKNOWN} is "${chargeUnknown}"; expected hold or nothing`);
  }
  const controllerId = controllerIdIn(env, problems);
  refuseInvalid(problems);
  return {
    ledgerTable: env[ENV_LEDGER_TABLE] ?? '',
    gitlabInstance: env[ENV_GITLAB_INSTANCE] ?? '',
    rulesFile: env[ENV_RULES_FILE] ?? '',
    gitlabUrl: env[ENV_GITLAB_URL] ?? '',
    gitlabTokenParameter: env[ENV_GITLAB_TOKEN_PARAMETER] ?? '',
    controllerId,
    chargeUnknown: chargeUnknown === 'hold' ? 'hold' : 'nothing',
    dynamodbEndpoint: env[ENV_DYNAMODB_ENDPOINT] || undefined,
  };
}
