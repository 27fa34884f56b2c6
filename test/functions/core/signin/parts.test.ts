import { randomBytes } from 'node:crypto';
import { Hono } from 'hono';
import { expect, test } from 'vitest';
import { renderNotice } from '../../../../functions/console/pages/problem-page.tsx';
import { silentLog } from '../../../../functions/core/environment/environment.ts';
import { ownAddress, readSignInConfig, visitorAddress } from '../../../../functions/core/signin/config.ts';
import { createSignIn, type SignInOptions } from '../../../../functions/core/signin/create-sign-in.ts';
import { gitlabRoles } from '../../../../functions/core/signin/gitlab-roles.ts';
import { pageHeaders, safeReturnTo } from '../../../../functions/core/signin/require-user.ts';
import { ownSessions, SESSION_MS } from '../../../../functions/core/signin/sessions.ts';
import { manualClock } from '../../../support/ledger/test-clock.ts';
import { memorySessionStore, SESSION } from '../../../support/tables/memory-session-store.ts';

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
  render: renderNotice,
  addressOf: () => 'somewhere',
  log: silentLog,
  ...overrides,
});

test.each([
  ['/', '/'],
  ['/groups/1?period=2026-11&x=%2F', '/groups/1?period=2026-11&x=%2F'],
  ['/groups/1#part', '/groups/1'],
  ['/a/../b', '/b'],
  [undefined, '/'],
  ['groups/1', '/'],
  ['//evil.example', '/'],
  ['/\\evil.example', '/'],
  ['/a\\..\\..\\\\evil.example', '/'],
  ['/\t/evil.example', '/'],
  ['/a/..//evil.example', '/'],
  ['https://evil.example', '/'],
  ['https:evil.example', '/'],
  ['javascript:alert(1)', '/'],
  [' //evil.example', '/'],
  ['/signin?returnTo=/signin', '/'],
  ['/signin/callback?code=1', '/'],
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
  const page = await renderNotice({
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

function catching(run: () => unknown): string {
  try {
    run();
  } catch (error) {
    return String(error);
  }
  return '';
}

const NOW_MS = 1_795_262_400_000;
const MINUTE_MS = 60_000;
const hashOf = (name: string): string => name.padEnd(43, 'x');

/** User 42 in this browser, another one, one that was left alone, a terminal, and one that is over; user 43 in one. */
async function signedIn() {
  const store = memorySessionStore();
  const add = (name: string, seenAgoMs: number, more: object = {}) =>
    store.create(hashOf(name), {
      ...SESSION,
      seenAtMs: NOW_MS - seenAgoMs,
      endsAtMs: NOW_MS - 120 * MINUTE_MS + SESSION_MS,
      ...more,
    });
  await add('this', MINUTE_MS);
  await add('other', 30 * MINUTE_MS);
  await add('left-alone', 60 * MINUTE_MS);
  await add('terminal', 90 * MINUTE_MS, { terminal: true });
  await add('over', 0, { endsAtMs: NOW_MS });
  await add('theirs', 0, { userId: 43 });
  const sessions = ownSessions(store, { nowMs: () => NOW_MS });
  const me = { id: 42, sessionId: hashOf('this') };
  const left = async () => {
    const names = ['this', 'other', 'terminal', 'theirs'];
    const found = await Promise.all(names.map((name) => store.read(hashOf(name))));
    return names.filter((_, index) => found[index] !== undefined);
  };
  return { sessions, me, left };
}

test('somebody sees the sessions of theirs that still open something, the one that asks first', async () => {
  const { sessions, me } = await signedIn();
  const rows = await sessions.list(me);
  expect(
    rows.map(({ isThis, isTerminal, seenAgoMs }) => [isThis, isTerminal, seenAgoMs / MINUTE_MS]),
  ).toEqual([
    [true, false, 1],
    [false, false, 30],
    [false, true, 90],
  ]);
  expect(rows[0]?.beganAgoMs).toBe(120 * MINUTE_MS);
});

test('one, the others or all are ended, and nobody else’s', async () => {
  const one = await signedIn();
  const [, other] = await one.sessions.list(one.me);
  expect(await one.sessions.end(one.me, { handle: other?.handle ?? '' })).toBe(1);
  expect(await one.left()).toEqual(['this', 'terminal', 'theirs']);
  const [theirs] = await one.sessions.list({ id: 43, sessionId: '' });
  expect(await one.sessions.end(one.me, { handle: theirs?.handle ?? '' })).toBe(0);
  const others = await signedIn();
  expect(await others.sessions.end(others.me, 'others')).toBe(2);
  expect(await others.left()).toEqual(['this', 'theirs']);
  const all = await signedIn();
  expect(await all.sessions.end(all.me, 'all')).toBe(3);
  expect(await all.left()).toEqual(['theirs']);
});

const PROXIES = ['10.0.0.0/8', '2600:9000::/28'];

test.each([
  ['no proxy is trusted: the connection', [], '10.0.0.1', '203.0.113.9', '10.0.0.1'],
  ['a stranger who brings a header of their own', PROXIES, '198.51.100.4', '203.0.113.9', '198.51.100.4'],
  ['a visitor behind the proxy', PROXIES, '10.0.0.1', '203.0.113.9', '203.0.113.9'],
  ['a visitor who wrote a header before it', PROXIES, '10.0.0.1', '192.0.2.1, 203.0.113.9', '203.0.113.9'],
  ['two proxies', PROXIES, '10.0.0.1', '192.0.2.1, 203.0.113.9, 10.9.9.9', '203.0.113.9'],
  ['a proxy of IPv6', PROXIES, '2600:9000::7', '2001:db8::5', '2001:db8::5'],
  ['a hop that is no address', PROXIES, '10.0.0.1', 'nobody', '10.0.0.1'],
  ['a header without an end', PROXIES, '10.0.0.1', `${'1.1.1.1,'.repeat(9_999)}203.0.113.9`, '203.0.113.9'],
])('%s', (_, proxies, connection, forwardedFor, expected) => {
  expect(visitorAddress(proxies)({ connection, forwardedFor })).toBe(expected);
});

const WELL = {
  TOLLGATE_GITLAB_URL: 'https://gitlab.example.com',
  TOLLGATE_GITLAB_TOKEN_PARAMETER: '/tollgate/prod/gitlab-token',
  TOLLGATE_CONSOLE_URL: 'https://budget.example.com/',
  TOLLGATE_SIGNIN_CLIENT_ID: 'abc',
  TOLLGATE_SIGNIN_SECRET_PARAMETER: '/tollgate/prod/signin-secret',
};

test.each([
  ['TOLLGATE_ADMIN_GROUP_ID', 'company/admins'],
  ['TOLLGATE_FINANCE_GROUP_ID', '8,9'],
  ['TOLLGATE_OWNERS_FROM', 'developer'],
  ['TOLLGATE_VIEWERS_FROM', 'everybody'],
  ['TOLLGATE_CONSOLE_URL', 'http://budget.example.com'],
  ['TOLLGATE_CONSOLE_URL', 'https://budget.example.com/below'],
])('%s = "%s" is refused by name', (name, value) => {
  const problems: string[] = [];
  readSignInConfig({ ...WELL, [name]: value }, problems);
  expect(problems).toEqual([expect.stringContaining(`${name} is`)]);
});

const SECRET = 'glpat-not-for-logs';
const USER = { id: 42, username: 'fin', name: 'Fin', state: 'active' };
const membership = (source_id: number, access_level: number, source_type = 'Namespace') => ({
  source_id,
  access_level,
  source_type,
  source_name: 'any',
});

type Answer = { readonly status?: number; readonly body: unknown; readonly next?: string };

const source = (answer: (call: string) => Answer, calls: string[] = []) =>
  gitlabRoles(
    { adminGroupId: 7, financeGroupId: 8 },
    {
      baseUrl: 'https://gitlab.example.com',
      token: async () => SECRET,
      clock: manualClock(),
      async fetch(input) {
        const { pathname, search } = new URL(String(input));
        calls.push(`${pathname}${search}`);
        const { status = 200, body, next = '' } = answer(`${pathname}${search}`);
        return new Response(JSON.stringify(body), { status, headers: { 'x-next-page': next } });
      },
    },
  );

const withMemberships = (entries: readonly unknown[]) =>
  source((call) => ({ body: call.includes('memberships') ? entries : USER }));

test.each([
  { level: 10, owned: false, viewer: false, guarantee: 'a guest, who may be a customer, sees no figures' },
  { level: 30, owned: false, viewer: true, guarantee: 'a developer sees, and edits nothing' },
  { level: 40, owned: true, viewer: true, guarantee: 'a maintainer owns the group' },
])('$guarantee', async ({ level, owned, viewer }) => {
  const account = await withMemberships([membership(101, level)]).read(42);
  expect(account?.roles).toEqual({
    admin: false,
    finance: false,
    ownedGroupIds: owned ? [101] : [],
    viewerGroupIds: viewer ? [101] : [],
  });
});

test('minimal access to the group of the admins or of finance is no membership of it', async () => {
  const account = await withMemberships([membership(7, 5), membership(8, 10)]).read(42);
  expect(account?.roles).toMatchObject({ admin: false, finance: true });
});

test('a project whose id is that of the group of the admins makes nobody an admin', async () => {
  const account = await withMemberships([membership(7, 50, 'Project'), membership(-7, 50), 'odd', null]).read(
    42,
  );
  expect(account?.roles).toMatchObject({ admin: false, ownedGroupIds: [] });
});

test('all pages count, and only group memberships are asked for: without the type, requests for access come along', async () => {
  const calls: string[] = [];
  const roles = source((call) => {
    if (!call.includes('memberships')) return { body: USER };
    const isSecond = call.includes('&page=2') || call.includes('?page=2');
    return isSecond ? { body: [membership(8, 30)] } : { body: [membership(101, 40)], next: '2' };
  }, calls);
  const account = await roles.read(42);
  expect(account?.roles).toMatchObject({ finance: true, ownedGroupIds: [101], viewerGroupIds: [8, 101] });
  expect(
    calls.filter((call) => call.includes('memberships')).every((call) => call.includes('type=Namespace')),
  ).toBe(true);
});

test('a list without an end is refused with a remedy instead of followed', async () => {
  const calls: string[] = [];
  const roles = source((call) => ({ body: call.includes('memberships') ? [] : USER, next: '2' }), calls);
  await expect(roles.read(42)).rejects.toMatchObject({ code: 'user_refused', status: 403 });
  expect(calls.length).toBeLessThan(30);
});

test.each([
  { status: 503, body: {} },
  { status: 302, body: {} },
  { status: 200, body: [] },
  { status: 200, body: { id: 42 } },
])('GitLab answering $status with $body is gitlab_unavailable, without the token', async (answer) => {
  const error: unknown = await source(() => answer)
    .read(42)
    .catch((reason: unknown) => reason);
  expect(error).toMatchObject({ code: 'gitlab_unavailable', status: 503 });
  expect(error).not.toHaveProperty('cause');
  expect(JSON.stringify(error) + String(error)).not.toContain(SECRET);
});
