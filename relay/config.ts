import { readFileSync } from 'node:fs';
import { isDeployment } from '../functions/core/contract/emf-document.ts';
import { parsePolicy } from '../policies/document/parse-policy.ts';
import { problemText } from '../policies/document/reading.ts';
import type { Policy } from '../policies/policy.ts';
import { INVOKE_URL } from './admit/routes.ts';
import { type AwsService, awsEndpoint } from './aws/aws-json.ts';
import { LOG_LEVELS, type LogLevel } from './monitoring/log.ts';
import * as names from './names.ts';
import { RelayError } from './relay-error.ts';
import { parseTarget, type RouterTarget } from './router/target.ts';

/** Reads settings from the environment and collects problems, so one failed start names them all. */
class EnvReader {
  readonly #env: Readonly<Record<string, string | undefined>>;
  readonly #problems: string[] = [];

  constructor(env: Readonly<Record<string, string | undefined>>) {
    this.#env = env;
  }

  /** Compose files and task definitions leave a variable out by an empty value. */
  optional(name: string): string | undefined {
    const value = this.#env[name]?.trim();
    return value === '' ? undefined : value;
  }

  required(name: string, example: string): string {
    const value = this.optional(name);
    if (value === undefined) this.problem(`${name} is not set; expected e.g. ${example}`);
    return value ?? '';
  }

  integer(
    name: string,
    bounds: { readonly min: number; readonly max: number; readonly fallback: number },
  ): number {
    const text = this.optional(name);
    if (text === undefined) return bounds.fallback;
    const value = Number(text);
    if (Number.isSafeInteger(value) && value >= bounds.min && value <= bounds.max) return value;
    this.problem(`${name} is "${text}"; expected a whole number from ${bounds.min} to ${bounds.max}`);
    return bounds.fallback;
  }

  choice<Choice extends string>(name: string, choices: readonly Choice[], fallback: Choice): Choice {
    const text = this.optional(name);
    if (text === undefined) return fallback;
    const chosen = choices.find((choice) => choice === text);
    if (chosen === undefined) this.problem(`${name} is "${text}"; expected ${choices.join(' or ')}`);
    return chosen ?? fallback;
  }

  problem(text: string): void {
    this.#problems.push(text);
  }

  throwIfAnyProblem(): void {
    if (this.#problems.length > 0) throw new RelayError('config_invalid', this.#problems.join('; '));
  }
}

type AdmitRoute =
  | { readonly kind: 'plain' }
  | { readonly kind: 'url' }
  | { readonly kind: 'invoke'; readonly functionName: string };

interface TablePlace {
  readonly table: string;
  readonly instance: string;
}

interface AwsConfig {
  /** Present if one of the others needs it. */
  readonly region: string | undefined;
  readonly endpoints: Readonly<Record<AwsService, string>>;
  readonly tokenParameter: string | undefined;
  readonly caParameter: string | undefined;
  readonly proxyParameter: string | undefined;
  readonly heartbeat: TablePlace | undefined;
  readonly journal: TablePlace | undefined;
}

const REGION = /^[a-z]{2,}(-[a-z]+)+-\d+$/;
const FUNCTION = /^(arn:[\w-]+:lambda:[\w:-]+|[\w-]{1,140}(:[\w$-]+)?)$/;

function readAdmitRoute(read: EnvReader): AdmitRoute {
  const kind = read.choice(names.ENV_ADMIT_ROUTE, ['plain', 'url', 'invoke'], 'plain');
  if (kind !== 'invoke') return { kind };
  const functionName = read.required(names.ENV_ADMIT_FUNCTION, 'tollgate-prod-admit');
  if (functionName !== '' && !FUNCTION.test(functionName)) {
    read.problem(
      `${names.ENV_ADMIT_FUNCTION} is "${functionName}"; expected a Lambda function's name or ARN`,
    );
  }
  return { kind, functionName };
}

function readAwsConfig(read: EnvReader, route: AdmitRoute): AwsConfig {
  const tokenParameter = read.optional(names.ENV_ROUTER_TOKEN_PARAMETER);
  const caParameter = read.optional(names.ENV_CA_PARAMETER);
  const proxyParameter = read.optional(names.ENV_PROXY_PARAMETER);
  const table = read.optional(names.ENV_HEARTBEAT_TABLE);
  const journal = read.optional(names.ENV_JOURNAL_TABLE);
  const needed =
    route.kind !== 'plain' ||
    [tokenParameter, caParameter, proxyParameter, table, journal].some((set) => set !== undefined);
  const region = needed ? readRegion(read) : undefined;
  const instance = table === undefined && journal === undefined ? undefined : readInstance(read);
  const endpoint = (service: AwsService, name: string): string =>
    readEndpoint(read, name) ?? (region === undefined ? '' : awsEndpoint(service, region));
  return {
    region,
    endpoints: {
      dynamodb: endpoint('dynamodb', names.ENV_AWS_DYNAMODB_ENDPOINT),
      lambda: endpoint('lambda', names.ENV_LAMBDA_ENDPOINT),
      ssm: endpoint('ssm', names.ENV_AWS_SSM_ENDPOINT),
    },
    tokenParameter,
    caParameter,
    proxyParameter,
    heartbeat: table === undefined ? undefined : { table, instance: instance ?? '' },
    journal: journal === undefined ? undefined : { table: journal, instance: instance ?? '' },
  };
}

function readRegion(read: EnvReader): string {
  const region = read.required(names.ENV_AWS_REGION, 'eu-central-1');
  if (region !== '' && !REGION.test(region)) {
    read.problem(`${names.ENV_AWS_REGION} is "${region}"; expected a region such as eu-central-1`);
  }
  return region;
}

function readInstance(read: EnvReader): string {
  const instance = read.required(names.ENV_RELAY_GITLAB_INSTANCE, 'gitlab.example.com');
  if (instance.includes('#')) {
    read.problem(`${names.ENV_RELAY_GITLAB_INSTANCE} is "${instance}"; expected a host name without "#"`);
  }
  return instance;
}

/** Secrets travel to these endpoints, so without TLS only inside this machine. */
function readEndpoint(read: EnvReader, name: string): string | undefined {
  const text = read.optional(name);
  if (text === undefined) return undefined;
  const url = URL.parse(text);
  if (url?.protocol === 'https:' || (url?.protocol === 'http:' && isLoopback(url.hostname)))
    return url.origin;
  read.problem(`${name}: expected https:// and a host, or http:// and this machine`);
  return '';
}

export const isLoopback = (host: string): boolean =>
  host === 'localhost' || host === '[::1]' || host === '::1' || /^127(\.\d{1,3}){3}$/.test(host);

export interface RelayConfig {
  readonly router: RouterTarget;
  /** An empty value if the token is in `aws.tokenParameter`. */
  readonly token: { readonly file: string } | { readonly value: string };
  readonly caFile: string | undefined;
  readonly protoFile: string | undefined;
  readonly policyFile: string | undefined;
  readonly admitUrl: string;
  readonly admitRoute: AdmitRoute;
  readonly aws: AwsConfig;
  readonly deadlineMs: number;
  /** For a job that waits for headroom. At least {@link deadlineMs}. */
  readonly answerWithinMs: number;
  readonly fallback: 'admit' | 'reject';
  /** The number of relays that share headroom while the ledger is out of reach. */
  readonly relays: number;
  readonly health: { readonly host: string; readonly port: number };
  readonly logLevel: LogLevel;
  readonly deployment: string | undefined;
}

/** Users notice a runner's poll that takes longer. */
export const RELAY_DEADLINE_MS = { min: 200, max: 10_000, fallback: 2_000 } as const;
/** The router times out after some 20 s, as observed. The relay gives a stream up after 30 s. */
export const ANSWER_WITHIN_MS = { min: 200, max: 25_000 } as const;
const RELAYS = { min: 1, max: 100, fallback: 1 } as const;
const HEALTH_PORT = { min: 1, max: 65_535, fallback: 8_081 } as const;

const NOWHERE: RouterTarget = {
  scheme: 'grpcs',
  host: '',
  port: 0,
  path: '',
  secure: true,
  tunnel: false,
  authority: '',
  url: '',
};

/** @throws {RelayError} `config_invalid` listing every setting that is missing or wrong, never a secret. */
export function readRelayConfig(env: Readonly<Record<string, string | undefined>>): RelayConfig {
  const read = new EnvReader(env);
  const admitRoute = readAdmitRoute(read);
  const deadlineMs = read.integer(names.ENV_DEADLINE_MS, RELAY_DEADLINE_MS);
  const config: RelayConfig = {
    router: readTarget(read),
    token: readToken(read),
    caFile: readCaFile(read),
    protoFile: read.optional(names.ENV_PROTO_FILE),
    policyFile: read.optional(names.ENV_POLICY_FILE),
    admitUrl: admitRoute.kind === 'invoke' ? INVOKE_URL : readAdmitUrl(read),
    admitRoute,
    aws: readAwsConfig(read, admitRoute),
    deadlineMs,
    answerWithinMs: readAnswerWithin(read, deadlineMs),
    fallback: read.choice(names.ENV_FALLBACK, ['admit', 'reject'], 'admit'),
    relays: read.integer(names.ENV_RELAYS, RELAYS),
    health: {
      host: read.optional(names.ENV_HEALTH_HOST) ?? '127.0.0.1',
      port: read.integer(names.ENV_HEALTH_PORT, HEALTH_PORT),
    },
    logLevel: read.choice(names.ENV_LOG_LEVEL, LOG_LEVELS, 'info'),
    deployment: readDeployment(read),
  };
  read.throwIfAnyProblem();
  return config;
}

function readAnswerWithin(read: EnvReader, deadlineMs: number): number {
  const withinMs = read.integer(names.ENV_ANSWER_WITHIN_MS, { ...ANSWER_WITHIN_MS, fallback: deadlineMs });
  if (withinMs < deadlineMs) {
    read.problem(
      `${names.ENV_ANSWER_WITHIN_MS} is ${withinMs}; expected at least ${names.ENV_DEADLINE_MS} (${deadlineMs}), within which questions are answered whose jobs do not wait`,
    );
  }
  return withinMs;
}

function readTarget(read: EnvReader): RouterTarget {
  const text = read.required(names.ENV_ROUTER_URL, 'wss://kas.example.com');
  if (text === '') return NOWHERE;
  let target: RouterTarget;
  try {
    target = parseTarget(text);
  } catch (error) {
    read.problem(`${names.ENV_ROUTER_URL}: ${problemOf(error)}`);
    return NOWHERE;
  }
  const plain = !target.secure && !isLoopback(target.host);
  if (plain && read.choice(names.ENV_ALLOW_PLAINTEXT_ROUTER, ['yes', 'no'], 'no') === 'no') {
    read.problem(
      `${names.ENV_ROUTER_URL} is "${target.url}": without TLS everybody on the way can read the controller's token and ` +
        `answer in its place; use ${target.tunnel ? 'wss' : 'grpcs'}://, or set ${names.ENV_ALLOW_PLAINTEXT_ROUTER}=yes ` +
        'if the network in between is yours alone',
    );
  }
  return target;
}

function readToken(read: EnvReader): RelayConfig['token'] {
  const file = read.optional(names.ENV_ROUTER_TOKEN_FILE);
  const value = read.optional(names.ENV_ROUTER_TOKEN);
  const places = {
    [names.ENV_ROUTER_TOKEN_FILE]: file,
    [names.ENV_ROUTER_TOKEN_PARAMETER]: read.optional(names.ENV_ROUTER_TOKEN_PARAMETER),
    [names.ENV_ROUTER_TOKEN]: value,
  };
  const given = Object.entries(places).flatMap(([name, set]) => (set === undefined ? [] : [name]));
  if (given.length === 0) {
    read.problem(
      `none of ${Object.keys(places).join(', ')} is set; set one, on AWS the second, else the first`,
    );
  } else if (given.length > 1) {
    read.problem(`${given.length === 2 ? 'both ' : ''}${given.join(' and ')} are set; keep one`);
  }
  return file !== undefined ? { file } : { value: value ?? '' };
}

function readCaFile(read: EnvReader): string | undefined {
  const file = read.optional(names.ENV_CA_FILE);
  if (file !== undefined && read.optional(names.ENV_CA_PARAMETER) !== undefined) {
    read.problem(`${names.ENV_CA_FILE} and ${names.ENV_CA_PARAMETER} are set; keep one`);
  }
  return file;
}

function readAdmitUrl(read: EnvReader): string {
  const text = read.required(names.ENV_ADMIT_URL, 'https://admit.example.com');
  if (text === '') return text;
  const url = URL.parse(text);
  const expected = `${names.ENV_ADMIT_URL}: expected http:// or https:// and a host, without credentials, query or fragment`;
  if (
    url === null ||
    !/^https?:$/.test(url.protocol) ||
    `${url.username}${url.password}${url.search}${url.hash}` !== ''
  ) {
    read.problem(expected);
    return '';
  }
  const plain = url.protocol === 'http:' && !isLoopback(url.hostname);
  if (plain && read.choice(names.ENV_ALLOW_PLAINTEXT_ADMIT, ['yes', 'no'], 'no') === 'no') {
    read.problem(
      `${names.ENV_ADMIT_URL} is "${url.origin}": without TLS anybody on the way can read and admit jobs; use https://, ` +
        `or set ${names.ENV_ALLOW_PLAINTEXT_ADMIT}=yes if the network in between is yours alone`,
    );
  }
  return url.href.replace(/\/+$/, '');
}

function readDeployment(read: EnvReader): string | undefined {
  const text = read.optional(names.ENV_RELAY_DEPLOYMENT);
  if (text !== undefined && !isDeployment(text)) {
    read.problem(
      `${names.ENV_RELAY_DEPLOYMENT} is "${text}"; expected up to 200 of letters, digits and . _ / @ -, a letter or digit first`,
    );
  }
  return text;
}

const problemOf = (error: unknown): string =>
  error instanceof RelayError ? error.message.replace(/^\[\w+\] /, '') : 'is not a router URL';

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
    throw new RelayError('config_invalid', `${file} cannot be read as JSON; build it with npm run bundle`, {
      cause,
    });
  }
  const { policy } = asRecord(packed);
  const { version, document } = asRecord(policy);
  if (typeof version !== 'string') {
    throw new RelayError('config_invalid', `${file} has no policy.version; build it with npm run bundle`);
  }
  const parsed = parsePolicy(document, version);
  if (parsed.ok) return parsed.value;
  throw new RelayError('config_invalid', `${file}, policy: ${parsed.problems.map(problemText).join('; ')}`);
}

const asRecord = (value: unknown): Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null ? (value as Readonly<Record<string, unknown>>) : {};
