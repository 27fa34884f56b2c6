/** The deployed handler before a GitLab that cannot sign: 18.9 to 18.11 know no signing token. */

import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { groupHookKey } from '../../../functions/core/gitlab/group-hooks.ts';
import * as names from '../../../functions/names.ts';
import { JOBS_PATH, PROOF_HEADER } from '../../../functions/settle/app.ts';
import { createLocalGitLab, type LocalGitLabOptions } from '../../../scripts/local/gitlab/local-gitlab.ts';
import type { GitLabVersion } from '../../../scripts/local/gitlab/webhooks.ts';
import { seededRandom } from '../../../scripts/local/random.ts';
import { newJob } from '../../support/hook-bench.ts';
import { importFor } from '../../support/import-for.ts';
import { keptEnv } from '../../support/kept-env.ts';
import { localTable } from '../../support/ledger/local-table.ts';

const SECRETS = '/tollgate/test/webhook-secrets';
const TOKENS = '/tollgate/test/webhook-tokens';
const SECRET_TOKEN = 'a plain secret of this test only';
const KEY_TOKEN = groupHookKey(SECRET_TOKEN, 100);
const SIGNING_TOKEN = `whsec_${Buffer.from('0123456789abcdef0123456789abcdef').toString('base64')}`;
/** As on the day of the upgrade: until then there is no parameter with signing tokens. */
const KEY_SIGNING = groupHookKey(SIGNING_TOKEN, 100);

const parameters = new Map([[TOKENS, `${SECRET_TOKEN}\n`]]);

const restoreEnv = keptEnv();
const table = localTable('old-gitlab');
let ssm: Server;

async function startParameters(): Promise<string> {
  ssm = createServer(async (request, response) => {
    let body = '';
    for await (const chunk of request) body += chunk;
    const { Name } = JSON.parse(body);
    const Value = parameters.get(Name);
    response.setHeader('content-type', 'application/x-amz-json-1.1');
    response.statusCode = Value === undefined ? 400 : 200;
    response.end(
      JSON.stringify(Value === undefined ? { __type: 'ParameterNotFound' } : { Parameter: { Name, Value } }),
    );
  });
  await new Promise<void>((listening) => ssm.listen(0, '127.0.0.1', listening));
  return `http://127.0.0.1:${(ssm.address() as AddressInfo).port}`;
}

beforeAll(async () => {
  Object.assign(process.env, {
    [names.ENV_LEDGER_TABLE]: 'old-gitlab',
    [names.ENV_GITLAB_INSTANCE]: 'old.example.com',
    [names.ENV_DYNAMODB_ENDPOINT]: table.endpoint,
    [names.ENV_WEBHOOK_SECRETS_PARAMETER]: SECRETS,
    [names.ENV_WEBHOOK_TOKENS_PARAMETER]: TOKENS,
    AWS_ENDPOINT_URL_SSM: await startParameters(),
    AWS_REGION: 'local',
    AWS_ACCESS_KEY_ID: 'local',
    AWS_SECRET_ACCESS_KEY: 'local',
  });
});

afterAll(async () => {
  restoreEnv();
  ssm?.close();
});

/** What Lambda hands over for a request to the function's URL. */
async function throughHandler(request: Request): Promise<Response> {
  const { handler } = await importFor<typeof import('../../../functions/settle/handler.ts')>(
    import.meta.url,
    'functions/settle/handler.ts',
  );
  const event = {
    version: '2.0',
    routeKey: '$default',
    rawPath: new URL(request.url).pathname,
    rawQueryString: '',
    headers: Object.fromEntries(request.headers),
    requestContext: { http: { method: 'POST', path: JOBS_PATH }, domainName: 'settle.example.com' },
    body: Buffer.from(await request.arrayBuffer()).toString('base64'),
    isBase64Encoded: true,
  };
  const answer = await handler(event as unknown as Parameters<typeof handler>[0], {} as never);
  return new Response(answer.body ?? null, {
    status: answer.statusCode,
    headers: (answer.headers ?? {}) as Record<string, string>,
  });
}

/** Statuses and proofs of all deliveries about one job that runs and ends. */
async function deliveries(
  jobId: number,
  hook: Pick<LocalGitLabOptions, 'version' | 'secretToken' | 'signingToken'>,
) {
  const answers: string[] = [];
  const local = createLocalGitLab({
    random: seededRandom(jobId),
    token: 'glpat-local',
    hookUrl: `https://settle.example.com${JOBS_PATH}/100`,
    deliver: async (request) => {
      const response = await throughHandler(request);
      answers.push(`${response.status} ${response.headers.get(PROOF_HEADER) ?? '-'}`);
      return response;
    },
    ...hook,
  });
  local.create(newJob(jobId));
  await local.hooksIdle();
  local.start(jobId, { id: 12, description: 'runner', tags: [] });
  local.end(jobId, { status: 'success' });
  await local.hooksIdle();
  local.stop();
  return answers;
}

const four = (answer: string): string[] => [answer, answer, answer, answer];

test.each<GitLabVersion>(['18.9', '18.11'])(
  'GitLab %s sends a secret token, and every delivery arrives, although nobody stored a signing token',
  async (version) => {
    expect(await deliveries(version === '18.9' ? 1 : 2, { version, secretToken: KEY_TOKEN })).toEqual(
      four('200 token'),
    );
  },
);

test('a token of somebody else, or none, is refused', async () => {
  const stranger = { version: '18.11', secretToken: 'what somebody made up for this' } as const;
  expect(await deliveries(3, stranger)).toEqual(four('401 -'));
  expect(await deliveries(4, { version: '18.11' })).toEqual(four('401 -'));
});

test('while both are set a signature must verify: the right token beside a wrong one opens nothing', async () => {
  parameters.set(SECRETS, `${SIGNING_TOKEN}\n`);
  const both = { version: '19.4', secretToken: KEY_TOKEN } as const;
  expect(await deliveries(5, { ...both, signingToken: KEY_SIGNING })).toEqual(four('200 signature'));
  const forged = `whsec_${Buffer.from('what somebody made up, 32 bytes.').toString('base64')}`;
  expect(await deliveries(6, { ...both, signingToken: forged })).toEqual(four('401 -'));
});

test('a played GitLab before 19.0 refuses a signing token, as the real one does not know the word', () => {
  expect(() =>
    createLocalGitLab({
      random: seededRandom(1),
      token: 'glpat-local',
      hookUrl: 'https://settle.example.com/',
      version: '18.11',
      signingToken: SIGNING_TOKEN,
    }),
  ).toThrow('GitLab 18.11 has no signing tokens');
});
