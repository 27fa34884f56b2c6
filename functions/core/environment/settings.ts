/** The environment of each program. All mistakes are reported together, before it starts. */
import { isZone } from '../../../policies/limits/calendar.ts';
import * as names from '../../names.ts';

export type Environment = Readonly<Record<string, string | undefined>>;

type Setting<Value> = (env: Environment, problems: string[]) => Value;

export const required =
  (name: string): Setting<string> =>
  (env, problems) => {
    problems.push(...unset(env, [name]));
    return env[name] ?? '';
  };

export const optional =
  (name: string): Setting<string | undefined> =>
  (env) =>
    env[name] || undefined;

export const unset = (env: Environment, all: readonly string[]): string[] =>
  all.flatMap((name) => (env[name] ? [] : [`${name} is not set`]));

/** @throws {Error} `[config_invalid]` with all problems, if there are any. */
export function refuseInvalid(problems: readonly string[]): void {
  if (problems.length > 0) throw new Error(`[config_invalid] ${problems.join('; ')}`);
}

type Settings<Fields extends Readonly<Record<string, Setting<unknown>>>> = {
  readonly [Field in keyof Fields]: ReturnType<Fields[Field]>;
};

export const readSettings = <Fields extends Readonly<Record<string, Setting<unknown>>>>(
  fields: Fields,
  env: Environment,
  problems: string[],
) =>
  Object.fromEntries(
    Object.entries(fields).map(([field, read]) => [field, read(env, problems)]),
  ) as Settings<Fields>;

const settingsReader =
  <Fields extends Readonly<Record<string, Setting<unknown>>>>(fields: Fields) =>
  (env: Environment): Settings<Fields> => {
    const problems: string[] = [];
    const settings = readSettings(fields, env, problems);
    refuseInvalid(problems);
    return settings;
  };

const idIn =
  (name: string, expected: string): Setting<number | undefined> =>
  (env, problems) => {
    const text = env[name];
    if (!text || /^[1-9]\d{0,14}$/.test(text)) return text ? Number(text) : undefined;
    problems.push(`${name} is "${text}"; expected ${expected}`);
    return undefined;
  };

export const groupIdIn = (name: string) => idIn(name, 'the id GitLab shows for the group');

const controllerIdIn = idIn(names.ENV_CONTROLLER_ID, 'the number GitLab shows for it');

export const choiceIn =
  <Choice extends string>(name: string, choices: readonly Choice[]): Setting<Choice | undefined> =>
  (env, problems) => {
    const text = env[name];
    const choice = choices.find((one) => one === text);
    if (text && choice === undefined)
      problems.push(`${name} is "${text}"; expected one of ${choices.join(', ')}`);
    return choice;
  };

export function usageZone(env: Environment, problems: string[]): string {
  const zone = env[names.ENV_ROLLUP_ZONE] || 'UTC';
  if (!isZone(zone))
    problems.push(`${names.ENV_ROLLUP_ZONE} is "${zone}"; expected an IANA zone such as Europe/Berlin`);
  return zone;
}

const TABLE = {
  ledgerTable: required(names.ENV_LEDGER_TABLE),
  gitlabInstance: required(names.ENV_GITLAB_INSTANCE),
  dynamodbEndpoint: optional(names.ENV_DYNAMODB_ENDPOINT),
};

const RULES = { rulesFile: required(names.ENV_RULES_FILE) };

const GITLAB = {
  gitlabUrl: required(names.ENV_GITLAB_URL),
  gitlabTokenParameter: required(names.ENV_GITLAB_TOKEN_PARAMETER),
};

/** Also for the reader of the table's stream, which evaluates fallback decisions. */
export const readAdmitConfig = settingsReader({ ...TABLE, ...RULES });

export const readSettleConfig = settingsReader({
  ...TABLE,
  secretsParameter: required(names.ENV_WEBHOOK_SECRETS_PARAMETER),
  /** Absent: only signed deliveries are accepted. */
  tokensParameter: optional(names.ENV_WEBHOOK_TOKENS_PARAMETER),
});

export const readRequeueConfig = settingsReader({
  ...{ ...TABLE, ...RULES, gitlabUrl: GITLAB.gitlabUrl },
  tokensPath: required(names.ENV_REQUEUE_TOKENS_PATH),
});

export const readDriftConfig = settingsReader({ ...TABLE, ...RULES, zone: usageZone });

export const readSweepConfig = settingsReader({
  ...{ ...TABLE, ...RULES, ...GITLAB },
  chargeUnknown: (env, problems) =>
    choiceIn(names.ENV_CHARGE_UNKNOWN, ['hold', 'nothing'])(env, problems) ?? 'nothing',
  /** Its scope decides which jobs are bypassed. Absent: all that ran without an admission. */
  controllerId: controllerIdIn,
});

export const readRollupConfig = settingsReader({
  ...{ ...TABLE, ...RULES, zone: usageZone },
  thresholdsTopicArn: optional(names.ENV_THRESHOLDS_TOPIC),
  consoleUrl: optional(names.ENV_CONSOLE_URL),
  export: (env, problems) => {
    const bucket = env[names.ENV_EXPORT_BUCKET];
    if (!bucket) return undefined;
    // Lambda sets the region.
    problems.push(...unset(env, ['AWS_REGION']));
    const endpoint = env.AWS_ENDPOINT_URL_S3 || env.AWS_ENDPOINT_URL || undefined;
    return { bucket, region: env.AWS_REGION ?? '', endpoint };
  },
});

export const readNoticesConfig = settingsReader({
  ...{ ...TABLE, ...RULES },
  topicArn: required(names.ENV_THRESHOLDS_TOPIC),
  zone: usageZone,
  /** SSM parameter with the webhooks of chat channels, one per line. Absent: no chat. */
  chatParameter: optional(names.ENV_CHAT_WEBHOOKS_PARAMETER),
  /** SSM parameter with the key that signs links to requests. Absent: unsigned links. */
  approvalKeyParameter: optional(names.ENV_APPROVAL_KEY_PARAMETER),
  /** SSM parameters below `tokensPath` are the tokens of groups. Absent: no notes in merge requests. */
  notes: (env, problems) => {
    const tokensPath = env[names.ENV_NOTE_TOKENS_PATH];
    return tokensPath ? { gitlabUrl: GITLAB.gitlabUrl(env, problems), tokensPath } : undefined;
  },
  consoleUrl: optional(names.ENV_CONSOLE_URL),
});

export const readWatchdogConfig = settingsReader({
  ...{ ...TABLE, gitlabUrl: GITLAB.gitlabUrl },
  controllerId: (env, problems): number => {
    problems.push(...unset(env, [names.ENV_CONTROLLER_ID]));
    return controllerIdIn(env, problems) ?? 0;
  },
  controllerTokenParameter: required(names.ENV_CONTROLLER_TOKEN_PARAMETER),
  pageTopic: required(names.ENV_PAGE_TOPIC),
  disarmsAfterFailedJob: (env) => env[names.ENV_DISARM_AFTER_FAILED_JOB] === 'yes',
});

/** The token reads groups and projects of the whole instance. */
export const readDirectoryConfig = settingsReader({
  ...{ ...TABLE, ...GITLAB },
  /** Address, token and secret of webhooks that are missing. Absent: none are made. */
  hooks: (env) => {
    const url = env[names.ENV_WEBHOOK_URL];
    const tokenParameter = env[names.ENV_HOOK_TOKEN_PARAMETER];
    const secretsParameter = env[names.ENV_WEBHOOK_SECRETS_PARAMETER];
    return url && tokenParameter && secretsParameter ? { url, tokenParameter, secretsParameter } : undefined;
  },
});

export const readDoctorConfig = settingsReader({
  ...{ ...TABLE, ...RULES, ...GITLAB, zone: usageZone },
  webhookUrl: required(names.ENV_WEBHOOK_URL),
  controllerId: controllerIdIn,
  /** The GitLab that the descriptors are of: `18.9`. Absent: their lock names none. */
  descriptorsVersion: optional(names.ENV_DESCRIPTORS_VERSION),
});

export const readSsmLimitsConfig = settingsReader({
  ...{ ...TABLE, ...RULES },
  limitsPath: (env, problems): string => {
    const path = required(names.ENV_LIMITS_PATH)(env, problems);
    if (path !== '' && !/^(\/[\w.-]+)+$/.test(path))
      problems.push(`${names.ENV_LIMITS_PATH} is "${path}"; expected a path such as /tollgate/prod/limits`);
    return path;
  },
  ssmEndpoint: optional(names.ENV_SSM_ENDPOINT),
});
