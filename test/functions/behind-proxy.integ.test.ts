/** Every program that calls GitLab, as it is deployed: by a proxy with a password, to a certificate of a private authority. */

import { afterAll, beforeAll, expect, test } from 'vitest';
import { itemAt, putItem } from '../../functions/core/store/calls.ts';
import { TimeLimit } from '../../functions/core/store/operation.ts';
import * as names from '../../functions/names.ts';
import { documentedUrlEvent } from '../../scripts/proof/rehearse/hosted-bundle.ts';
import { aFake, aRig, type Fake, fakeParameters, INSTANCE, type Rig } from '../support/bundle-rig.ts';
import { PROXY_CREDENTIALS, startPrivateNetwork } from '../support/private-network.ts';

const asked: string[] = [];
let [parameters, gitlab]: (Fake | undefined)[] = [];
let network: Awaited<ReturnType<typeof startPrivateNetwork>>;
let rig: Rig;

beforeAll(async () => {
  rig = await aRig();
  // Without a relay that was heard, the watchdog has nothing to ask.
  const key = { pk: `${INSTANCE}${names.HEARTBEAT_PK_SUFFIX}`, sk: 'relay' };
  await putItem(rig.table, itemAt(key, { at: { N: String(Date.now()) } }), new TimeLimit(60_000));
  gitlab = await aFake(({ method, url = '' }, _, response) => {
    asked.push(`${method} ${url.replace(/\?.*/, '')}`);
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(JSON.stringify(answerTo(url)));
  });
  network = await startPrivateNetwork(Number(new URL(gitlab.url).port));
  parameters = await fakeParameters({
    '/t/ca': network.ca,
    '/t/proxy': PROXY_CREDENTIALS,
    '/t/token': 'glpat-of-these-tests-only',
  });
});

afterAll(async () => {
  await rig.close();
  await network.close();
  for (const fake of [parameters, gitlab]) fake?.close();
});

function answerTo(url: string): unknown {
  const issuer = `https://${network.host}`;
  if (url.startsWith('/.well-known/'))
    return {
      issuer,
      authorization_endpoint: `${issuer}/oauth/authorize`,
      token_endpoint: `${issuer}/oauth/token`,
      jwks_uri: `${issuer}/oauth/discovery/keys`,
    };
  if (url.startsWith('/api/v4/runner_controllers/7')) return { id: 7, state: 'enabled' };
  return url.startsWith('/api/v4/') ? [] : {};
}

const environment = () => ({
  [names.ENV_GITLAB_URL]: `https://${network.host}`,
  [names.ENV_GITLAB_TOKEN_PARAMETER]: '/t/token',
  [names.ENV_CA_PARAMETER]: '/t/ca',
  [names.ENV_PROXY_PARAMETER]: '/t/proxy',
  https_proxy: network.proxyUrl,
  AWS_ENDPOINT_URL_SSM: parameters?.url ?? '',
});

test.each([
  { program: 'sweep', more: {}, call: 'GET /api/v4/runners/all' },
  { program: 'directory', more: {}, call: 'GET /api/v4/groups' },
  {
    program: 'doctor',
    more: { [names.ENV_WEBHOOK_URL]: 'https://hooks.example.com/' },
    call: 'GET /api/v4/personal_access_tokens/self',
  },
  {
    program: 'watchdog',
    more: {
      [names.ENV_CONTROLLER_ID]: '7',
      [names.ENV_CONTROLLER_TOKEN_PARAMETER]: '/t/token',
      [names.ENV_PAGE_TOPIC]: 'arn:aws:sns:eu-central-1:111122223333:page',
    },
    call: 'GET /api/v4/runner_controllers/7',
  },
] as const)('$program reaches GitLab', async ({ program, more, call }) => {
  asked.length = 0;
  network.targets.length = 0;
  const bundle = await rig.start(program, { ...environment(), ...more });
  // Some of them find the answers of this GitLab too poor to go on.
  await bundle.invoke({}).catch(() => {});
  expect(bundle.output()).not.toContain('p@ss');
  expect(asked).toContain(call);
  expect(new Set(network.targets)).toEqual(new Set([network.host]));
});

test('the console begins a sign-in and fetches its tokens', async () => {
  asked.length = 0;
  const hosted = await rig.start('console', {
    ...environment(),
    [names.ENV_CONSOLE_URL]: 'https://budget.example.com',
    [names.ENV_SIGNIN_CLIENT_ID]: '2f0a',
    [names.ENV_SIGNIN_SECRET_PARAMETER]: '/t/token',
    [names.ENV_ADMIN_GROUP_ID]: '123',
    [names.ENV_FINANCE_GROUP_ID]: '124',
  });
  const open = async (path: string, rawQueryString = '', cookies: readonly string[] = []) => {
    const event = documentedUrlEvent({ method: 'GET', path });
    return (await hosted.invoke({ ...event, rawQueryString, cookies })) as {
      readonly headers: Readonly<Record<string, string>>;
      readonly cookies: readonly string[];
    };
  };
  const begun = await open('/signin');
  const { searchParams } = new URL(begun.headers.location ?? '');
  const cookies = begun.cookies.map((each) => each.split(';')[0] ?? '');
  await open('/signin/callback', `code=c&state=${searchParams.get('state')}`, cookies);
  expect(asked).toEqual(['GET /.well-known/openid-configuration', 'POST /oauth/token']);
});
