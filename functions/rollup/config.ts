import { type Environment, refuseInvalid, unset } from '../core/environment/index.ts';
import { usageZone } from '../core/usage/index.ts';
import {
  ENV_CONSOLE_URL,
  ENV_DYNAMODB_ENDPOINT,
  ENV_EXPORT_BUCKET,
  ENV_GITLAB_INSTANCE,
  ENV_LEDGER_TABLE,
  ENV_RULES_FILE,
  ENV_THRESHOLDS_TOPIC,
} from '../names.ts';

interface RollupConfig {
  readonly ledgerTable: string;
  readonly gitlabInstance: string;
  readonly rulesFile: string;
  /** IANA zone of the days of usage. */
  readonly zone: string;
  /** ARN of the owners' topic; absent: no threshold alerts. */
  readonly thresholdsTopicArn: string | undefined;
  /** The console's address; absent: messages have no links. */
  readonly consoleUrl: string | undefined;
  /** Target of the decision export; absent: none. */
  readonly export:
    | { readonly bucket: string; readonly region: string; readonly endpoint: string | undefined }
    | undefined;
  /** Only for DynamoDB Local. */
  readonly dynamodbEndpoint: string | undefined;
}

/** @throws {Error} `[config_invalid]` listing every setting that is missing or wrong. */
export function readRollupConfig(env: Environment): RollupConfig {
  const problems = unset(env, [ENV_LEDGER_TABLE, ENV_GITLAB_INSTANCE, ENV_RULES_FILE]);
  const zone = usageZone(env, problems);
  const bucket = env[ENV_EXPORT_BUCKET] || undefined;
  // Lambda sets it.
  if (bucket !== undefined) problems.push(...unset(env, ['AWS_REGION']));
  refuseInvalid(problems);
  return {
    ledgerTable: env[ENV_LEDGER_TABLE] ?? '',
    gitlabInstance: env[ENV_GITLAB_INSTANCE] ?? '',
    rulesFile: env[ENV_RULES_FILE] ?? '',
    zone,
    thresholdsTopicArn: env[ENV_THRESHOLDS_TOPIC] || undefined,
    consoleUrl: env[ENV_CONSOLE_URL] || undefined,
    export:
      bucket === undefined
        ? undefined
        : {
            bucket,
            region: env.AWS_REGION ?? '',
            endpoint: env.AWS_ENDPOINT_URL_S3 || env.AWS_ENDPOINT_URL || undefined,
          },
    dynamodbEndpoint: env[ENV_DYNAMODB_ENDPOINT] || undefined,
  };
}
