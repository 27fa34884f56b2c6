import { EnvReader } from './env-reader.ts';
import { LOG_LEVELS, type LogLevel } from './log.ts';
import * as names from './names.ts';
import { RelayError } from './relay-error.ts';
import { parseTarget, type RouterTarget } from './router/target.ts';

/** Everything a relay is told at its start. */
export interface RelayConfig {
  readonly router: RouterTarget;
  /** Exactly one of the two. */
  readonly token: { readonly file: string } | { readonly value: string };
  readonly caFile: string | undefined;
  readonly protoFile: string | undefined;
  readonly policyFile: string | undefined;
  readonly admitUrl: string;
  readonly deadlineMs: number;
  readonly fallback: 'admit' | 'reject';
  readonly health: { readonly host: string; readonly port: number };
  readonly logLevel: LogLevel;
}

/** The router's own patience is not known; its users' is: a runner's poll that takes longer is felt. */
export const DEADLINE_MS = { min: 200, max: 10_000, fallback: 2_000 } as const;
export const HEALTH_PORT = { min: 1, max: 65_535, fallback: 8_081 } as const;

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
  const config: RelayConfig = {
    router: readTarget(read),
    token: readToken(read),
    caFile: read.optional(names.ENV_CA_FILE),
    protoFile: read.optional(names.ENV_PROTO_FILE),
    policyFile: read.optional(names.ENV_POLICY_FILE),
    admitUrl: readAdmitUrl(read),
    deadlineMs: read.integer(names.ENV_DEADLINE_MS, DEADLINE_MS),
    fallback: read.choice(names.ENV_FALLBACK, ['admit', 'reject'], 'admit'),
    health: {
      host: read.optional(names.ENV_HEALTH_HOST) ?? '127.0.0.1',
      port: read.integer(names.ENV_HEALTH_PORT, HEALTH_PORT),
    },
    logLevel: read.choice(names.ENV_LOG_LEVEL, LOG_LEVELS, 'info'),
  };
  read.throwIfAnyProblem();
  return config;
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
  if ((file === undefined) === (value === undefined)) {
    const both = `${names.ENV_ROUTER_TOKEN_FILE} and ${names.ENV_ROUTER_TOKEN}`;
    read.problem(
      file === undefined ? `neither of ${both} is set; set the first` : `both ${both} are set; keep one`,
    );
  }
  return file !== undefined ? { file } : { value: value ?? '' };
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

/** What is wrong without the code, which the whole list carries once. */
const problemOf = (error: unknown): string =>
  error instanceof RelayError ? error.message.replace(/^\[\w+\] /, '') : 'is not a router URL';

const isLoopback = (host: string): boolean =>
  host === 'localhost' || host === '[::1]' || host === '::1' || /^127(\.\d{1,3}){3}$/.test(host);
