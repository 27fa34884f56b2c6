import { readFileSync } from 'node:fs';
import { isDeployment } from '../functions/core/contract/emf-document.ts';
import { parsePolicy } from '../policies/document/parse-policy.ts';
import { isRecord, problemText } from '../policies/document/reading.ts';
import type { Policy } from '../policies/policy.ts';
import { INVOKE_URL } from './admit/routes.ts';
import { type AwsService, awsEndpoint } from './aws/aws-json.ts';
import { LOG_LEVELS } from './monitoring/log.ts';
import * as names from './names.ts';
import { RelayError } from './relay-error.ts';
import { parseTarget, type RouterTarget } from './router/target.ts';

type Env = Readonly<Record<string, string | undefined>>;

/** Reads settings from the environment and collects problems, so one failed start names them all. */
function envReader(env: Env) {
  const problems: string[] = [];
  /** Compose files and task definitions leave a variable out by an empty value. */
  const optional = (name: string): string | undefined => env[name]?.trim() || undefined;
  const matching = (name: string, fits: (value: string) => boolean, expected: string): string | undefined => {
    const value = optional(name);
    if (value === undefined || fits(value)) return value;
    problems.push(`${name} is "${value}"; expected ${expected}`);
    return '';
  };
  return {
    problems,
    optional,
    matching,
    required: (name: string, example: string, fits = (_: string) => true, expected = ''): string => {
      const value = matching(name, fits, expected);
      if (value === undefined) problems.push(`${name} is not set; expected e.g. ${example}`);
      return value ?? '';
    },
    integer: (
      name: string,
      { min, max, fallback }: { readonly min: number; readonly max: number; readonly fallback: number },
    ): number => {
      const text = optional(name) ?? String(fallback);
      const value = Number(text);
      if (Number.isSafeInteger(value) && value >= min && value <= max) return value;
      problems.push(`${name} is "${text}"; expected a whole number from ${min} to ${max}`);
      return fallback;
    },
    choice: <Choice extends string>(name: string, choices: readonly Choice[], fallback: Choice): Choice => {
      const text = optional(name) ?? fallback;
      const chosen = choices.find((choice) => choice === text);
      if (chosen === undefined) problems.push(`${name} is "${text}"; expected ${choices.join(' or ')}`);
      return chosen ?? fallback;
    },
  };
}

type EnvReader = ReturnType<typeof envReader>;

const isInstance = (text: string): boolean => !text.includes('#');
const isRegion = (text: string): boolean => /^[a-z]{2,}(-[a-z]+)+-\d+$/.test(text);
const isFunction = (text: string): boolean =>
  /^(arn:[\w-]+:lambda:[\w:-]+|[\w-]{1,140}(:[\w$-]+)?)$/.test(text);

function readAdmitRoute(read: EnvReader) {
  const kind = read.choice(names.ENV_ADMIT_ROUTE, ['plain', 'url', 'invoke'], 'plain');
  if (kind !== 'invoke') return { kind } as const;
  const expected = "a Lambda function's name or ARN";
  const functionName = read.required(names.ENV_ADMIT_FUNCTION, 'tollgate-prod-admit', isFunction, expected);
  return { kind, functionName } as const;
}

function readAwsConfig(read: EnvReader, route: ReturnType<typeof readAdmitRoute>) {
  const tokenParameter = read.optional(names.ENV_ROUTER_TOKEN_PARAMETER);
  const caParameter = read.optional(names.ENV_CA_PARAMETER);
  const proxyParameter = read.optional(names.ENV_PROXY_PARAMETER);
  const heartbeatTable = read.optional(names.ENV_HEARTBEAT_TABLE);
  const journalTable = read.optional(names.ENV_JOURNAL_TABLE);
  const uses = [tokenParameter, caParameter, proxyParameter, heartbeatTable, journalTable];
  const region =
    route.kind === 'plain' && uses.every((set) => set === undefined)
      ? undefined
      : read.required(names.ENV_AWS_REGION, 'eu-central-1', isRegion, 'a region such as eu-central-1');
  const expected = 'a host name without "#"';
  const instance =
    heartbeatTable === undefined && journalTable === undefined
      ? ''
      : read.required(names.ENV_RELAY_GITLAB_INSTANCE, 'gitlab.example.com', isInstance, expected);
  const endpoint = (service: AwsService, name: string): string =>
    readEndpoint(read, name) ?? (region === undefined ? '' : awsEndpoint(service, region));
  return {
    ...{ region, tokenParameter, caParameter, proxyParameter },
    endpoints: {
      dynamodb: endpoint('dynamodb', names.ENV_AWS_DYNAMODB_ENDPOINT),
      lambda: endpoint('lambda', names.ENV_LAMBDA_ENDPOINT),
      ssm: endpoint('ssm', names.ENV_AWS_SSM_ENDPOINT),
    },
    heartbeat: heartbeatTable === undefined ? undefined : { table: heartbeatTable, instance },
    journal: journalTable === undefined ? undefined : { table: journalTable, instance },
  };
}

/** Secrets travel to these endpoints, so without TLS only inside this machine. The value is not repeated. */
function readEndpoint(read: EnvReader, name: string): string | undefined {
  const text = read.optional(name);
  if (text === undefined) return undefined;
  const url = URL.parse(text);
  if (url?.protocol === 'https:' || (url?.protocol === 'http:' && isLoopback(url.hostname)))
    return url.origin;
  read.problems.push(`${name}: expected https:// and a host, or http:// and this machine`);
  return '';
}

export const isLoopback = (host: string): boolean =>
  host === 'localhost' || host === '[::1]' || host === '::1' || /^127(\.\d{1,3}){3}$/.test(host);

export type RelayConfig = ReturnType<typeof readRelayConfig>;

/** @throws {RelayError} `config_invalid` listing every setting that is missing or wrong, never a secret. */
export function readRelayConfig(env: Env) {
  const read = envReader(env);
  const admitRoute = readAdmitRoute(read);
  const deadlineMs = read.integer(names.ENV_DEADLINE_MS, names.DEADLINE_MS);
  const expected = 'up to 200 of letters, digits and . _ / @ -, a letter or digit first';
  const config = {
    router: readTarget(read),
    token: readToken(read),
    caFile: readCaFile(read),
    protoFile: read.optional(names.ENV_PROTO_FILE),
    policyFile: read.optional(names.ENV_POLICY_FILE),
    admitUrl: admitRoute.kind === 'invoke' ? INVOKE_URL : readAdmitUrl(read),
    admitRoute,
    aws: readAwsConfig(read, admitRoute),
    deadlineMs,
    answerWithinMs: read.integer(names.ENV_ANSWER_WITHIN_MS, {
      ...{ min: deadlineMs, max: names.ANSWER_WITHIN_MS.max, fallback: deadlineMs },
    }),
    fallback: read.choice(names.ENV_FALLBACK, ['admit', 'reject'], 'admit'),
    relays: read.integer(names.ENV_RELAYS, { min: 1, max: 100, fallback: 1 }),
    health: {
      host: read.optional(names.ENV_HEALTH_HOST) ?? '127.0.0.1',
      port: read.integer(names.ENV_HEALTH_PORT, { min: 1, max: 65_535, fallback: 8_081 }),
    },
    logLevel: read.choice(names.ENV_LOG_LEVEL, LOG_LEVELS, 'info'),
    deployment: read.matching(names.ENV_RELAY_DEPLOYMENT, isDeployment, expected),
  };
  if (read.problems.length > 0) throw new RelayError('config_invalid', read.problems.join('; '));
  return config;
}

function readTarget(read: EnvReader): RouterTarget {
  const text = read.required(names.ENV_ROUTER_URL, 'wss://kas.example.com');
  let target = NOWHERE;
  try {
    if (text !== '') target = parseTarget(text);
  } catch (error) {
    const problem =
      error instanceof RelayError ? error.message.replace(/^\[\w+\] /, '') : 'is not a router URL';
    read.problems.push(`${names.ENV_ROUTER_URL}: ${problem}`);
  }
  const { secure, host, url, tunnel } = target;
  const scheme = tunnel ? 'wss' : 'grpcs';
  if (!secure && !isLoopback(host))
    checkPlaintext(read, names.ENV_ROUTER_URL, url, names.ENV_ALLOW_PLAINTEXT_ROUTER, scheme);
  return target;
}

const NOWHERE = parseTarget('grpcs://nowhere.invalid');

function checkPlaintext(read: EnvReader, name: string, url: string, allow: string, scheme: string): void {
  if (read.choice(allow, ['yes', 'no'], 'no') === 'yes') return;
  read.problems.push(
    `${name} is "${url}": without TLS any host on the path can read and forge the traffic; use ${scheme}://, or set ${allow}=yes on a private network`,
  );
}

function readToken(read: EnvReader): { readonly file: string } | { readonly value: string } {
  const places = [names.ENV_ROUTER_TOKEN_FILE, names.ENV_ROUTER_TOKEN_PARAMETER, names.ENV_ROUTER_TOKEN];
  const given = places.filter((name) => read.optional(name) !== undefined);
  if (given.length === 0)
    read.problems.push(`none of ${places.join(', ')} is set; set one, on AWS the second, else the first`);
  if (given.length > 1) read.problems.push(`${given.join(' and ')} are set; keep one`);
  const file = read.optional(names.ENV_ROUTER_TOKEN_FILE);
  return file !== undefined ? { file } : { value: read.optional(names.ENV_ROUTER_TOKEN) ?? '' };
}

function readCaFile(read: EnvReader): string | undefined {
  const file = read.optional(names.ENV_CA_FILE);
  if (file !== undefined && read.optional(names.ENV_CA_PARAMETER) !== undefined)
    read.problems.push(`${names.ENV_CA_FILE} and ${names.ENV_CA_PARAMETER} are set; keep one`);
  return file;
}

function readAdmitUrl(read: EnvReader): string {
  const text = read.required(names.ENV_ADMIT_URL, 'https://admit.example.com');
  if (text === '') return text;
  const url = URL.parse(text);
  const extras = `${url?.username}${url?.password}${url?.search}${url?.hash}`;
  if (url === null || !/^https?:$/.test(url.protocol) || extras !== '') {
    const expected = 'expected http:// or https:// and a host, without credentials, query or fragment';
    read.problems.push(`${names.ENV_ADMIT_URL}: ${expected}`);
    return '';
  }
  if (url.protocol === 'http:' && !isLoopback(url.hostname))
    checkPlaintext(read, names.ENV_ADMIT_URL, url.origin, names.ENV_ALLOW_PLAINTEXT_ADMIT, 'https');
  return url.href.replace(/\/+$/, '');
}

/**
 * Reads the policy from the file that the build packs for the functions: `{policy: {version, document}, …}`.
 *
 * @throws {RelayError} `config_invalid` naming the file and every problem in it.
 */
export function readPolicyFile(file: string): Policy {
  let packed: unknown;
  try {
    packed = JSON.parse(readFileSync(file, 'utf8'));
  } catch (cause) {
    const problem = `${file} cannot be read as JSON; build it with npm run bundle`;
    throw new RelayError('config_invalid', problem, { cause });
  }
  const { version, document }: Readonly<Record<string, unknown>> =
    isRecord(packed) && isRecord(packed.policy) ? packed.policy : {};
  if (typeof version !== 'string')
    throw new RelayError('config_invalid', `${file} has no policy.version; build it with npm run bundle`);
  const parsed = parsePolicy(document, version);
  if (parsed.ok) return parsed.value;
  throw new RelayError('config_invalid', `${file}, policy: ${parsed.problems.map(problemText).join('; ')}`);
}
