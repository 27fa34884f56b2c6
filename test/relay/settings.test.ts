import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { readPolicyFile, readRelayConfig } from '../../relay/config.ts';
import { RelayError } from '../../relay/relay-error.ts';
import { policyDocument } from '../policies/documents.ts';

const TOKEN = 'glrct-config-not-a-secret';
type Env = Readonly<Record<string, string | undefined>>;

const WELL: Env = {
  TOLLGATE_ROUTER_URL: 'wss://kas.example.com',
  TOLLGATE_ROUTER_TOKEN_FILE: '/run/secrets/token',
  TOLLGATE_ADMIT_URL: 'https://admit.example.com',
};
const read = (env: Env) => readRelayConfig({ ...WELL, ...env });

/** The problems, one a line; `[]` if there is none. Also checks what holds for every message. */
function problems(env: Env): readonly string[] {
  try {
    readRelayConfig(env);
    return [];
  } catch (error) {
    if (!(error instanceof RelayError)) throw error;
    expect(error.code).toBe('config_invalid');
    expect(error.message).not.toContain(TOKEN);
    return error.message.replace('[config_invalid] ', '').split('; ');
  }
}
const problem = (env: Env): string => problems({ ...WELL, ...env }).join('; ');

test('three settings are enough, and the others have safe values', () => {
  expect(read({})).toMatchObject({
    router: { url: 'wss://kas.example.com', port: 443, secure: true },
    token: { file: '/run/secrets/token' },
    caFile: undefined,
    protoFile: undefined,
    policyFile: undefined,
    admitUrl: 'https://admit.example.com',
    deadlineMs: 2_000,
    fallback: 'admit',
    health: { host: '127.0.0.1', port: 8_081 },
    logLevel: 'info',
  });
});

test('every setting is read, and an empty one is not set', () => {
  const config = read({
    TOLLGATE_ROUTER_TOKEN_FILE: '',
    TOLLGATE_ROUTER_TOKEN: ` ${TOKEN}\n`,
    TOLLGATE_ADMIT_URL: 'https://admit.example.com/stage/',
    TOLLGATE_CA_FILE: '/ca.pem',
    TOLLGATE_PROTO_FILE: '/kas.binpb',
    TOLLGATE_POLICY_FILE: '/rules.json',
    TOLLGATE_DEADLINE_MS: '200',
    TOLLGATE_FALLBACK: 'reject',
    TOLLGATE_HEALTH_HOST: '0.0.0.0',
    TOLLGATE_HEALTH_PORT: '65535',
    TOLLGATE_LOG_LEVEL: 'debug',
  });
  expect(config).toMatchObject({
    token: { value: TOKEN },
    admitUrl: 'https://admit.example.com/stage',
    caFile: '/ca.pem',
    protoFile: '/kas.binpb',
    policyFile: '/rules.json',
    deadlineMs: 200,
    fallback: 'reject',
    health: { host: '0.0.0.0', port: 65_535 },
    logLevel: 'debug',
  });
});

test('a start without settings names all that are missing, with an example or the remedy', () => {
  expect(problems({})).toEqual([
    'TOLLGATE_ROUTER_URL is not set',
    'expected e.g. wss://kas.example.com',
    'none of TOLLGATE_ROUTER_TOKEN_FILE, TOLLGATE_ROUTER_TOKEN_PARAMETER, TOLLGATE_ROUTER_TOKEN is set',
    'set one, on AWS the second, else the first',
    'TOLLGATE_ADMIT_URL is not set',
    'expected e.g. https://admit.example.com',
  ]);
});

test('a start with everything wrong names everything at once, with the values, and no token', () => {
  const text = problems({
    TOLLGATE_ROUTER_URL: 'https://kas.example.com',
    TOLLGATE_ROUTER_TOKEN_FILE: '/run/secrets/token',
    TOLLGATE_ROUTER_TOKEN: TOKEN,
    TOLLGATE_ADMIT_URL: 'ftp://admit.example.com',
    TOLLGATE_DEADLINE_MS: '2s',
    TOLLGATE_FALLBACK: 'open',
    TOLLGATE_HEALTH_PORT: '0',
    TOLLGATE_LOG_LEVEL: 'loud',
  }).join('; ');
  expect(text).toContain('TOLLGATE_ROUTER_URL: router URL "https://kas.example.com" must begin with grpc://');
  expect(text).toContain('TOLLGATE_ROUTER_TOKEN_FILE and TOLLGATE_ROUTER_TOKEN are set; keep one');
  expect(text).toContain('TOLLGATE_ADMIT_URL: expected http:// or https:// and a host');
  expect(text).toContain('TOLLGATE_DEADLINE_MS is "2s"; expected a whole number from 200 to 10000');
  expect(text).toContain('TOLLGATE_FALLBACK is "open"; expected admit or reject');
  expect(text).toContain('TOLLGATE_HEALTH_PORT is "0"; expected a whole number from 1 to 65535');
  expect(text).toContain('TOLLGATE_LOG_LEVEL is "loud"; expected debug or info or warn or error or silent');
});

test.each(['grpc', 'ws'])(
  '%s:// to another host is refused: the token would travel in the open',
  (scheme) => {
    const url = `${scheme}://kas.example.com`;
    const text = problem({ TOLLGATE_ROUTER_URL: url });
    expect(text).toContain(`TOLLGATE_ROUTER_URL is "${url}"`);
    expect(text).toContain(`use ${scheme === 'ws' ? 'wss' : 'grpcs'}://`);
    expect(text).toContain('TOLLGATE_ALLOW_PLAINTEXT_ROUTER=yes');
  },
);

test.each([
  { host: 'localhost', refused: false },
  { host: '127.0.0.1:8150', refused: false },
  { host: '[::1]:8150', refused: false },
  { host: '127.0.0.1.example.com', refused: true },
  { host: '10.0.0.1', refused: true },
])('without TLS, a router at $host is another host: $refused', ({ host, refused }) => {
  expect(problem({ TOLLGATE_ROUTER_URL: `grpc://${host}` }) !== '').toBe(refused);
  expect(problem({ TOLLGATE_ADMIT_URL: `http://${host}` }) !== '').toBe(refused);
});

test.each([
  { value: 'yes', starts: true },
  { value: 'no', starts: false },
  { value: 'true', starts: false },
])('the switch for plaintext is "yes" and nothing like it: "$value" starts: $starts', ({ value, starts }) => {
  const router = { TOLLGATE_ROUTER_URL: 'ws://kas.example.com', TOLLGATE_ALLOW_PLAINTEXT_ROUTER: value };
  const admit = { TOLLGATE_ADMIT_URL: 'http://admit.example.com', TOLLGATE_ALLOW_PLAINTEXT_ADMIT: value };
  expect(problem(router) === '').toBe(starts);
  expect(problem(admit) === '').toBe(starts);
});

test.each([
  { TOLLGATE_ROUTER_URL: `wss://user:${TOKEN}@kas.example.com` },
  { TOLLGATE_ROUTER_URL: `wss://kas.example.com/?token=${TOKEN}` },
  { TOLLGATE_ROUTER_URL: `wss://${TOKEN}@` },
  { TOLLGATE_ROUTER_URL: TOKEN },
  { TOLLGATE_ADMIT_URL: `https://user:${TOKEN}@admit.example.com` },
  { TOLLGATE_ADMIT_URL: `https://admit.example.com/?key=${TOKEN}` },
  { TOLLGATE_ADMIT_URL: `https://admit.example.com/#${TOKEN}` },
  { TOLLGATE_ADMIT_URL: `http://admit.example.com/${TOKEN}` },
  { TOLLGATE_ROUTER_TOKEN: TOKEN },
])('a secret in a setting is not repeated: %j', (env) => {
  expect(problem(env), 'refused, and the token is not in it').not.toBe('');
});

const DEPLOYED: Env = {
  TOLLGATE_ROUTER_TOKEN_FILE: '',
  TOLLGATE_ROUTER_TOKEN_PARAMETER: '/tollgate/prod/router-token',
  TOLLGATE_CA_PARAMETER: '/tollgate/prod/ca',
  TOLLGATE_HEARTBEAT_TABLE: 'tollgate-prod',
  TOLLGATE_JOURNAL_TABLE: 'tollgate-prod',
  TOLLGATE_RELAYS: '2',
  TOLLGATE_GITLAB_INSTANCE: 'gitlab.example.com',
  AWS_REGION: 'eu-central-1',
};

test.each(['admit', 'admit:live', 'arn:aws:lambda:eu-central-1:123456789012:function:admit:7'])(
  'the route invoke needs a function and no URL: %s',
  (functionName) => {
    const config = read({
      ...DEPLOYED,
      TOLLGATE_ADMIT_URL: '',
      TOLLGATE_ADMIT_ROUTE: 'invoke',
      TOLLGATE_ADMIT_FUNCTION: functionName,
    });
    expect(config.admitRoute).toEqual({ kind: 'invoke', functionName });
    expect(URL.canParse(config.admitUrl)).toBe(true);
  },
);

test.each([
  { env: { AWS_REGION: 'Frankfurt' }, named: 'AWS_REGION is "Frankfurt"' },
  { env: { TOLLGATE_GITLAB_INSTANCE: '' }, named: 'TOLLGATE_GITLAB_INSTANCE is not set' },
  { env: { TOLLGATE_ADMIT_ROUTE: 'invoke' }, named: 'TOLLGATE_ADMIT_FUNCTION is not set' },
  {
    env: { AWS_ENDPOINT_URL_SSM: 'http://ssm.example.com' },
    named: 'AWS_ENDPOINT_URL_SSM: expected https://',
  },
  { env: { TOLLGATE_CA_FILE: '/ca.pem' }, named: 'TOLLGATE_CA_FILE and TOLLGATE_CA_PARAMETER are set' },
])('a deployed relay that misses something names it: $named', ({ env, named }) => {
  expect(problem({ ...DEPLOYED, ...env })).toContain(named);
});

test('without a deployment there are no metrics for CloudWatch, and one it would not take is refused', () => {
  expect(read({}).deployment).toBeUndefined();
  expect(read({ TOLLGATE_DEPLOYMENT: 'prod/gitlab.example.com' }).deployment).toBe('prod/gitlab.example.com');
  expect(problem({ TOLLGATE_DEPLOYMENT: ':prod eu' })).toMatch(
    /^TOLLGATE_DEPLOYMENT is ":prod eu"; expected up to 200/,
  );
});

describe('the policy file', () => {
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-policy-file-'));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  function fileWith(content: unknown): string {
    const file = join(folder, 'rules.json');
    writeFileSync(file, typeof content === 'string' ? content : JSON.stringify(content));
    return file;
  }

  function refusal(file: string): string {
    try {
      readPolicyFile(file);
    } catch (error) {
      if (!(error instanceof RelayError)) throw error;
      expect(error.code).toBe('config_invalid');
      return error.message;
    }
    throw new Error(`${file} was accepted`);
  }

  const policy = { version: 'a1b2c3', document: policyDocument() };

  test('the packed rules are read: policy with its version; limits and the directory of that day are not looked at', () => {
    const read = readPolicyFile(fileWith({ policy, limits: 'broken', directory: 'old' }));
    expect(read.version).toBe('a1b2c3');
    expect(read.rules.map(({ id }) => id)).toEqual(['budgets', 'slots']);
  });

  test.each(['', '{"policy":', 'currency: EUR  # not-a-secret'])(
    'a file that is not JSON ("%s") is named with the remedy, and not quoted',
    (content) => {
      const file = fileWith(content);
      expect(refusal(file)).toBe(
        `[config_invalid] ${file} cannot be read as JSON; build it with npm run bundle`,
      );
    },
  );

  test.each([{}, { policy: { document: policyDocument() } }])(
    'a file without a packed policy is refused: %j',
    (content) => {
      const file = fileWith(content);
      expect(refusal(file)).toBe(
        `[config_invalid] ${file} has no policy.version; build it with npm run bundle`,
      );
    },
  );

  test('every problem of a policy is told at once, with the file, the part and the path', () => {
    const document = policyDocument({
      rules: [
        { id: 'budgets', kind: 'budget', mode: 'hard' },
        { id: 'slots', kind: 'nonsense', mode: 'enforce' },
      ],
    });
    const file = fileWith({ policy: { version: '1', document } });
    const text = refusal(file);
    expect(text).toContain(`${file}, policy: `);
    expect(text).toContain('rules[0].mode');
    expect(text).toContain('rules[1].kind');
  });
});
