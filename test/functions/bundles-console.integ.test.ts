import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { STYLE_HREF } from '../../functions/console/pages/assets.ts';
import { dynamoSessionStore } from '../../functions/core/signin/dynamo-session-store.ts';
import { hashSecret, makeCsrfToken } from '../../functions/core/signin/sessions.ts';
import * as names from '../../functions/names.ts';
import {
  documentedUrlEvent,
  type HostedBundle,
  type UrlEventOptions,
} from '../../scripts/proof/rehearse/hosted-bundle.ts';
import {
  aFake,
  aRig,
  type Fake,
  fakeParameters,
  GITLAB_TOKEN,
  INSTANCE,
  type Rig,
  throughApi,
} from '../support/bundle-rig.ts';

const SECRET = 'a client secret of these tests only';
const SECRET_PARAMETER = '/tollgate/test/signin-secret';
const TOKEN_PARAMETER = '/tollgate/test/console-token';
const SESSION_ID = 'a'.repeat(43);

interface Answer {
  readonly statusCode: number;
  readonly body: string;
  readonly headers: Readonly<Record<string, string>>;
}

let parameters: Fake;
let gitlab: Fake;
let rig: Rig;
let hosted: HostedBundle;

beforeAll(async () => {
  rig = await aRig();
  parameters = await fakeParameters({ [SECRET_PARAMETER]: SECRET, [TOKEN_PARAMETER]: GITLAB_TOKEN });
  gitlab = await aFake((request, _, response) => {
    const known = request.url === '/.well-known/openid-configuration';
    response.writeHead(known ? 200 : 404, { 'content-type': 'application/json' });
    response.end(JSON.stringify(known ? discoveryOf(`http://${request.headers.host}`) : {}));
  });
  hosted = await rig.start('console', {
    [names.ENV_GITLAB_URL]: gitlab.url,
    [names.ENV_GITLAB_TOKEN_PARAMETER]: TOKEN_PARAMETER,
    [names.ENV_CONSOLE_URL]: 'https://budget.example.com',
    [names.ENV_SIGNIN_CLIENT_ID]: '2f0a',
    [names.ENV_SIGNIN_SECRET_PARAMETER]: SECRET_PARAMETER,
    [names.ENV_ADMIN_GROUP_ID]: '123',
    [names.ENV_FINANCE_GROUP_ID]: '124',
    AWS_ENDPOINT_URL_SSM: parameters.url,
  });
  const nowMs = Date.now();
  await dynamoSessionStore({ table: rig.table, instance: INSTANCE }).create(hashSecret(SESSION_ID), {
    userId: 7,
    username: 'fritz',
    name: 'Fritz',
    roles: { admin: false, finance: true, ownedGroupIds: [], viewerGroupIds: [] },
    rolesReadAtMs: nowMs,
    seenAtMs: nowMs,
    endsAtMs: nowMs + 3_600_000,
  });
});

afterAll(async () => {
  await rig?.close();
  parameters?.close();
  gitlab?.close();
});

const discoveryOf = (issuer: string) => ({
  issuer,
  authorization_endpoint: `${issuer}/oauth/authorize`,
  token_endpoint: `${issuer}/oauth/token`,
  jwks_uri: `${issuer}/oauth/discovery/keys`,
  response_types_supported: ['code'],
  code_challenge_methods_supported: ['S256'],
});

const BROWSER = { accept: 'text/html,application/xhtml+xml' };
/** Function URLs hand cookies on beside the headers. */
const SIGNED_IN = { cookies: [`__Host-tollgate-session=${SESSION_ID}`] };

const send = async (event: UrlEventOptions, more: object = {}): Promise<Answer> =>
  (await hosted.invoke({ ...documentedUrlEvent(event), ...more })) as Answer;
const get = (path: string, headers: Readonly<Record<string, string>> = {}, more: object = {}) =>
  send({ path, method: 'GET', headers }, more);

describe('the deployed console', () => {
  test('sends who signs in to GitLab, and has them come back to the address of the settings', async () => {
    const answer = await get('/signin', BROWSER);
    expect(answer.statusCode).toBe(302);
    const { origin, pathname, searchParams } = new URL(answer.headers.location ?? '');
    expect(`${origin}${pathname}`).toBe(`${gitlab.url}/oauth/authorize`);
    expect(Object.fromEntries(searchParams)).toMatchObject({
      client_id: '2f0a',
      redirect_uri: 'https://budget.example.com/signin/callback',
      scope: 'openid',
      code_challenge_method: 'S256',
    });
  });

  test('serves a domain of the settings, and sets cookies there', async () => {
    const by = (path: string, headers: Readonly<Record<string, string>>) =>
      hosted.invoke(throughApi(documentedUrlEvent({ path, method: 'GET', headers }))) as Promise<
        Answer & { readonly multiValueHeaders?: Readonly<Record<string, readonly string[]>> }
      >;
    const page = await by('/', { ...BROWSER, cookie: SIGNED_IN.cookies[0] ?? '' });
    expect([page.statusCode, page.body]).toEqual([200, expect.stringContaining('href="/groups/101"')]);
    const signIn = await by('/signin', BROWSER);
    expect(signIn.statusCode).toBe(302);
    expect(signIn.multiValueHeaders?.['set-cookie']?.[0]).toContain('__Host-');
  });

  test('asks one address that signs in too often to wait, whatever it says of itself', async () => {
    const answers: number[] = [];
    for (let tries = 0; tries < 31; tries += 1)
      answers.push((await get('/signin/nowhere', { 'x-forwarded-for': `198.51.100.${tries}` })).statusCode);
    expect(answers).toContain(429);
  });

  test('gives styles to anybody, to be kept for good', async () => {
    const answer = await get(STYLE_HREF);
    expect(answer.statusCode).toBe(200);
    expect(answer.headers).toMatchObject({
      'content-type': 'text/css; charset=utf-8',
      'cache-control': expect.stringContaining('immutable'),
    });
    expect((await get(STYLE_HREF.replace(/[0-9a-f]{12}/, '0'.repeat(12)))).statusCode).not.toBe(200);
  });

  test('shows who is signed in what the table has', async () => {
    const me = await get('/api/v1/me', {}, SIGNED_IN);
    expect(JSON.parse(me.body)).toMatchObject({ username: 'fritz', seesAll: true });
    const page = await get('/', BROWSER, SIGNED_IN);
    expect(page.statusCode).toBe(200);
    expect(page.body).toContain('href="/groups/101"');
  });

  test('writes limits into the table, and shows them', async () => {
    const edits = [{ kind: 'set', subject: 'group/101', unit: 'jobs', amount: 4321 }];
    const body = JSON.stringify({ edits, why: 'a test of the bundle', confirmed: true });
    const headers = { origin: 'https://budget.example.com', 'if-match': '"none"' };
    const asked = { path: '/api/v1/limits/edits', body };
    const forged = await send({ ...asked, headers }, SIGNED_IN);
    expect(forged.statusCode).toBe(403);
    const token = { 'x-csrf-token': makeCsrfToken(SESSION_ID) };
    const made = await send({ ...asked, headers: { ...headers, ...token }, base64: true }, SIGNED_IN);
    expect([made.statusCode, made.body]).toEqual([200, expect.any(String)]);
    // The function's own timeouts are short, and the page of a slow table says so.
    await expect
      .poll(async () => (await get('/groups/101', BROWSER, SIGNED_IN)).body, { timeout: 20_000 })
      .toMatch(/4[,\s\u202f’]?321/);
  });

  test('says nothing of secrets or cookies in its log', () => {
    const text = hosted.output();
    for (const secret of [SECRET, GITLAB_TOKEN, SESSION_ID]) expect(text).not.toContain(secret);
  });
});
