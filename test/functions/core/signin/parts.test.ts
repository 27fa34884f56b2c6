import { randomBytes } from 'node:crypto';
import { Hono } from 'hono';
import { expect, test } from 'vitest';
import { silentLog } from '../../../../functions/core/environment/environment.ts';
import { ownAddress } from '../../../../functions/core/signin/config.ts';
import { createSignIn, type SignInOptions } from '../../../../functions/core/signin/create-sign-in.ts';
import {
  pageHeaders,
  plainPage,
  rateLimit,
  safeReturnTo,
} from '../../../../functions/core/signin/require-user.ts';
import { memorySessionStore } from '../../../support/tables/memory-session-store.ts';

const ISSUER = 'https://gitlab.example.com';
const CALLBACK = 'https://budget.example.com/signin/callback';

const discoveryAnswer = async (): Promise<Response> =>
  Response.json({
    issuer: ISSUER,
    authorization_endpoint: `${ISSUER}/oauth/authorize`,
    token_endpoint: `${ISSUER}/oauth/token`,
    jwks_uri: `${ISSUER}/oauth/discovery/keys`,
  });

const options = (overrides: Partial<SignInOptions> = {}): SignInOptions => ({
  issuer: ISSUER,
  clientId: 'tollgate',
  clientSecret: async () => 'secret',
  redirectUrl: CALLBACK,
  fetch: discoveryAnswer,
  sessions: memorySessionStore(),
  roles: { read: async () => undefined },
  clock: { nowMs: () => Date.now() },
  random: randomBytes,
  addressOf: () => 'somewhere',
  log: silentLog,
  ...overrides,
});

test.each([
  ['/', '/'],
  ['/groups/1?period=2026-11&x=%2F', '/groups/1?period=2026-11&x=%2F'],
  ['/groups/1#part', '/groups/1'],
  ['/a/../b', '/b'],
  ['/x?next=//evil.example', '/x?next=//evil.example'],
  [undefined, '/'],
  ['', '/'],
  ['groups/1', '/'],
  ['//evil.example', '/'],
  ['///evil.example', '/'],
  ['/\\evil.example', '/'],
  ['\\\\evil.example', '/'],
  ['/a\\..\\..\\\\evil.example', '/'],
  ['/\t/evil.example', '/'],
  ['/\n/evil.example', '/'],
  ['/a/..//evil.example', '/'],
  ['/.//evil.example', '/'],
  ['/%2e%2e//evil.example', '/'],
  ['https://evil.example', '/'],
  ['https:evil.example', '/'],
  ['javascript:alert(1)', '/'],
  [' //evil.example', '/'],
  ['/signin?returnTo=/signin', '/'],
  ['/signout', '/'],
  ['/signin/callback?code=1', '/'],
  ['/signing', '/signing'],
  [`/${'a'.repeat(2_000)}`, '/'],
])('returnTo %j leads to %j', (asked, path) => {
  expect(safeReturnTo(asked)).toBe(path);
});

test('over https a pending sign-in is bound to this host, hidden from scripts and not sent along from other sites', async () => {
  const { routes } = createSignIn(options());
  const response = await routes.request('https://budget.example.com/signin');
  const [cookie = ''] = response.headers.getSetCookie();
  expect(cookie).toMatch(
    /^__Host-tollgate-signin-[\w-]{16}=[\w.-]{300,1000}; Max-Age=600; Path=\/; HttpOnly; Secure; SameSite=Lax$/,
  );
  expect(response.headers.get('cache-control')).toBe('no-store');
});

test('GitLab is asked for who it is and nothing more, with state, nonce and a SHA-256 challenge of its own each time', async () => {
  const { routes } = createSignIn(options());
  const ask = async () => {
    const response = await routes.request('https://budget.example.com/signin');
    return new URL(response.headers.get('location') ?? '');
  };
  const [one, two] = [await ask(), await ask()];
  expect(`${one.origin}${one.pathname}`).toBe(`${ISSUER}/oauth/authorize`);
  expect(Object.fromEntries(one.searchParams)).toEqual({
    client_id: 'tollgate',
    response_type: 'code',
    redirect_uri: CALLBACK,
    scope: 'openid',
    code_challenge_method: 'S256',
    code_challenge: expect.stringMatching(/^[\w-]{43}$/),
    state: expect.stringMatching(/^[\w-]{43}$/),
    nonce: expect.stringMatching(/^[\w-]{43}$/),
  });
  for (const name of ['state', 'nonce', 'code_challenge'])
    expect(one.searchParams.get(name)).not.toBe(two.searchParams.get(name));
});

test.each([
  'http://budget.example.com/signin/callback',
  'https://budget.example.com/other',
  'https://user:password@budget.example.com/signin/callback',
  'https://budget.example.com/signin/callback?a=b',
  'not an address',
])('a console at %s is refused when it starts, without quoting the address', (redirectUrl) => {
  const error = catching(() => createSignIn(options({ redirectUrl })));
  expect(error).toContain('https://budget.example.com/signin/callback');
  expect(error).not.toContain('password');
});

test('plain http is taken on the own machine only', () => {
  expect(ownAddress('http://localhost:8080/signin/callback')).toMatchObject({ secure: false });
  expect(ownAddress('http://[::1]:8080/signin/callback')).toMatchObject({ secure: false });
  expect(catching(() => createSignIn(options({ issuer: 'http://gitlab.example.com' })))).toContain('issuer');
});

test('an issuer that calls itself something else is not signed in with', async () => {
  const { routes } = createSignIn(options({ issuer: 'https://other.example.com' }));
  const response = await routes.request('https://budget.example.com/signin');
  expect(response.status).toBe(503);
});

test('a page may run no script and be in no frame but what its nonce allows, and no cache keeps it', async () => {
  const app = new Hono<{ Variables: { secureHeadersNonce?: string } }>();
  app.use(pageHeaders());
  app.get('/', (c) => c.text(c.get('secureHeadersNonce') ?? 'none'));
  const [one, two] = [await app.request('/'), await app.request('/')];
  const nonce = await one.text();
  expect(nonce.length).toBeGreaterThan(20);
  expect(await two.text()).not.toBe(nonce);
  const policy = one.headers.get('content-security-policy') ?? '';
  expect(policy.split('; ')).toEqual([
    "default-src 'none'",
    `script-src 'self' 'nonce-${nonce}'`,
    `style-src 'self' 'nonce-${nonce}'`,
    "img-src 'self'",
    "connect-src 'self'",
    "form-action 'self'",
    "frame-ancestors 'none'",
    "base-uri 'none'",
  ]);
  expect(one.headers.get('cache-control')).toBe('no-store');
  expect(one.headers.get('x-content-type-options')).toBe('nosniff');
});

test('what goes into a page is text, whoever wrote it', async () => {
  const page = await plainPage({
    code: 'x',
    title: '<b>',
    sentence: '<script>',
    remedy: '"&',
    link: { href: '/"', text: '<' },
  });
  expect(page).not.toContain('<script>');
  expect(page).toContain('&lt;script&gt;');
  expect(page).toContain('href="/&quot;"');
});

test('a limit counts each key on its own, and forgets with its window', () => {
  let nowMs = 0;
  const limit = rateLimit({ max: 2, windowMs: 60_000, clock: { nowMs: () => nowMs } });
  expect([limit.take('a'), limit.take('a'), limit.take('b')]).toEqual([undefined, undefined, undefined]);
  nowMs = 45_000;
  expect([limit.take('a'), limit.take('b')]).toEqual([15, undefined]);
  nowMs = 60_000;
  expect(limit.take('a')).toBeUndefined();
});

test('strangers beyond the keys it remembers share one count and push nobody out', () => {
  const limit = rateLimit({ max: 1, windowMs: 60_000, clock: { nowMs: () => 0 } });
  limit.take('first');
  for (let count = 0; count < 10_000; count += 1) limit.take(`${count}`);
  expect(limit.take('one more')).toBe(60);
  expect(limit.take('first')).toBe(60);
});

function catching(run: () => unknown): string {
  try {
    run();
  } catch (error) {
    return String(error);
  }
  return '';
}
