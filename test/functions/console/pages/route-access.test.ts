import { randomBytes } from 'node:crypto';
import type { Hono } from 'hono';
import { expect, test } from 'vitest';
import { standingsOf } from '../../../../functions/console/access.ts';
import { ACCESS, API_PATH } from '../../../../functions/console/api/create-api.ts';
import { createConsoleApp } from '../../../../functions/console/app.ts';
import { createAssets } from '../../../../functions/console/pages/assets.ts';
import { createPages } from '../../../../functions/console/pages/create-pages.ts';
import { PAGE_ACCESS } from '../../../../functions/console/pages/page-access.ts';
import { silentLog } from '../../../../functions/core/environment/environment.ts';
import { createUploads } from '../../../../functions/core/limits/limit-table.ts';
import { createSignIn } from '../../../../functions/core/signin/create-sign-in.ts';
import { csrfTokenOf, ownSessions, secretHashOf } from '../../../../functions/core/signin/sessions.ts';
import { closeMonths } from '../../../support/statements/closed-months.ts';
import { memoryLimitTable } from '../../../support/tables/memory-limit-table.ts';
import { memorySessionStore } from '../../../support/tables/memory-session-store.ts';
import { aJob, consoleHouse, LIMITS, servedTo, USERS } from '../house.ts';

const ORIGIN = 'http://localhost:3000';

type Who = keyof typeof USERS;
/** Jobs have no session; the test of their tokens tries every page. */
const EVERYBODY = (Object.keys(USERS) as Who[]).filter((who) => !who.startsWith('job'));
const idOf = (who: Who): string => secretHashOf(who);

/** The whole console with its real guard, and a session for everybody of the table. */
async function house() {
  const real = consoleHouse();
  await real.apply(LIMITS);
  await real.ask([aJob(4711)]);
  await closeMonths(real.chain, 'group/104', ['2026-09']);
  const watched = { kind: 'rollout', subject: 'group/104', cost: 'shadow', capacity: 'shadow' } as const;
  const base = (await real.desk.live())?.pointer.set;
  const by = { actor: 'ada', rights: [{ role: 'admin' } as const], why: 'w', source: 'test', base };
  await real.desk.apply([watched], { ...by, confirmed: true });
  // Taken back it tightens, which an owner may.
  const more = { kind: 'set', subject: 'group/104', limit: 'jobs-now', amount: 12 } as const;
  await real.desk.apply([more], { ...by, base: (await real.desk.live())?.pointer.set, confirmed: true });
  const filed = await real.desk.request(ASKED, {
    actor: 'vera',
    rights: [{ role: 'viewer', groups: [101] }],
  });
  const request = filed.outcome === 'filed' ? filed.request.id : '';
  const { desk, read, policy, clock } = real;
  const directory = async () => real.directory;
  const sessions = memorySessionStore();
  const nowMs = clock.nowMs();
  for (const who of EVERYBODY) {
    const { id: userId, username, name, roles } = USERS[who];
    const times = { rolesReadAtMs: nowMs, seenAtMs: nowMs, endsAtMs: nowMs + 3_600_000 };
    await sessions.create(secretHashOf(idOf(who)), { userId, username, name, roles, ...times });
  }
  const signIn = createSignIn({
    issuer: 'https://gitlab.example.com',
    clientId: 'tollgate',
    clientSecret: async () => 'secret',
    redirectUrl: `${ORIGIN}/signin/callback`,
    fetch: () => Promise.reject(new Error('GitLab is away')),
    sessions,
    roles: { read: async () => undefined },
    clock,
    random: randomBytes,
    addressOf: () => 'somewhere',
    log: silentLog,
  });
  const told: string[] = [];
  const uploads = createUploads({ table: memoryLimitTable(), clock, newId: () => 'u1' });
  const pages = createPages({
    ...{ desk, read, policy, directory, uploads, clock, zone: 'UTC', origin: ORIGIN, log: silentLog },
    sessions: ownSessions(sessions, clock),
    tellOwner: async ({ path }) => {
      told.push(path);
      return 'sent';
    },
  });
  const app = createConsoleApp({
    ...{ desk, read, signIn, policy, directory, clock, pages, log: silentLog },
    assets: createAssets(),
  });
  const state = async () => ({
    set: (await desk.live())?.pointer.set,
    requests: await desk.requests({ rights: [{ role: 'admin' }], actor: 'ada' }),
    told: [...told],
  });
  return { app, pages, request, state, set: (await desk.live())?.pointer.set ?? '' };
}

type House = Awaited<ReturnType<typeof house>>;

const ASKED = {
  subject: 'group/104',
  limit: 'money-month',
  amount: '1',
  from: '2026-11-20',
  until: '2026-12-01',
  reason: 'r',
};

interface Call {
  /** The weakest that may, written down here once more: the table of the pages alone would agree with itself. */
  readonly least: (typeof STRENGTH)[number];
  readonly path: string;
  readonly form?: Readonly<Record<string, string | File>>;
  /** What whoever may gets. */
  readonly ok: number;
  /** What somebody of another subtree gets: nothing there, or a page without what is not theirs. */
  readonly elsewhere: number;
}

const STRENGTH = ['none', 'viewer', 'owner', 'finance'] as const;

/** One call of each page, about acme/payments/cards. */
const CALLS: Readonly<Record<string, (of: House) => Call>> = {
  'GET /': () => ({
    least: 'none',
    path: '/',
    ok: 200,
    elsewhere: 200,
  }),
  'GET /budgets': () => ({
    least: 'viewer',
    path: '/budgets',
    ok: 200,
    elsewhere: 200,
  }),
  'GET /me': () => ({
    least: 'none',
    path: '/me',
    ok: 200,
    elsewhere: 200,
  }),
  'POST /me/sessions': () => ({
    least: 'none',
    path: '/me/sessions',
    form: { step: 'others' },
    ok: 303,
    elsewhere: 303,
  }),
  'GET /go': () => ({
    least: 'none',
    path: '/go',
    ok: 200,
    elsewhere: 200,
  }),
  'GET /instance': () => ({
    least: 'finance',
    path: '/instance',
    ok: 200,
    elsewhere: 403,
  }),
  'GET /:folder{groups|projects|runner-classes}/:name': () => ({
    least: 'viewer',
    path: '/groups/104',
    ok: 200,
    elsewhere: 404,
  }),
  'GET /jobs': () => ({
    least: 'viewer',
    path: '/jobs',
    ok: 200,
    elsewhere: 200,
  }),
  'GET /jobs/:word': () => ({
    least: 'viewer',
    path: '/jobs/4711',
    ok: 200,
    elsewhere: 404,
  }),
  'GET /shadow': () => ({
    least: 'viewer',
    path: '/shadow',
    ok: 200,
    elsewhere: 200,
  }),
  'GET /rollout': () => ({
    least: 'viewer',
    path: '/rollout',
    ok: 200,
    elsewhere: 200,
  }),
  'GET /rollout/step': () => ({
    least: 'owner',
    path: '/rollout/step?subject=group/104',
    ok: 200,
    elsewhere: 404,
  }),
  'POST /rollout/move': ({ set }) => ({
    least: 'finance',
    path: '/rollout/move',
    form: { subject: 'group/104', direction: 'next', base: set, why: 'w', force: 'yes' },
    ok: 303,
    elsewhere: 404,
  }),
  'POST /rollout/report': () => ({
    least: 'owner',
    path: '/rollout/report',
    form: { subject: 'group/104', why: 'w' },
    ok: 303,
    elsewhere: 404,
  }),
  'GET /coverage': () => ({
    least: 'viewer',
    path: '/coverage?group=104',
    ok: 200,
    elsewhere: 404,
  }),
  'GET /reports': () => ({
    least: 'viewer',
    path: '/reports?group=104',
    ok: 200,
    elsewhere: 404,
  }),
  'GET /reports/:file{spend.csv|groups.csv|focus.csv}': () => ({
    least: 'viewer',
    path: '/reports/focus.csv?group=104',
    ok: 200,
    elsewhere: 404,
  }),
  'GET /statements': () => ({
    least: 'viewer',
    path: '/statements?group=104',
    ok: 200,
    elsewhere: 404,
  }),
  'GET /statements/:month': () => ({
    least: 'viewer',
    path: '/statements/2026-09?group=104',
    ok: 200,
    elsewhere: 404,
  }),
  'GET /statements/:month/:file': () => ({
    least: 'viewer',
    path: '/statements/2026-09/focus.csv?group=104',
    ok: 200,
    elsewhere: 404,
  }),
  'GET /break-glass': () => ({
    least: 'viewer',
    path: '/break-glass',
    ok: 200,
    elsewhere: 200,
  }),
  'GET /history': () => ({
    least: 'viewer',
    path: '/history',
    ok: 200,
    elsewhere: 200,
  }),
  'GET /history/:edit': () => ({
    least: 'viewer',
    path: '/history/1',
    ok: 200,
    elsewhere: 200,
  }),
  'GET /history/:edit/undo': () => ({
    least: 'owner',
    path: '/history/3/undo',
    ok: 200,
    elsewhere: 404,
  }),
  'POST /history/:edit/undo': () => ({
    least: 'owner',
    path: '/history/3/undo',
    form: { why: 'w' },
    ok: 303,
    elsewhere: 404,
  }),
  'GET /edit': () => ({
    least: 'owner',
    path: '/edit?kind=set&subject=group/104&limit=money-month',
    ok: 200,
    elsewhere: 404,
  }),
  'POST /edit': ({ set }) => ({
    least: 'owner',
    path: '/edit',
    form: {
      ...{ kind: 'set', subject: 'group/104', limit: 'money-month', base: set, step: 'apply', why: 'w' },
      ...{ 'was.amount': '3', amount: '2' },
    },
    ok: 303,
    elsewhere: 404,
  }),
  'GET /ask': () => ({
    least: 'viewer',
    path: '/ask?subject=group/104',
    ok: 200,
    elsewhere: 404,
  }),
  'POST /ask': () => ({
    least: 'viewer',
    path: '/ask',
    form: ASKED,
    ok: 303,
    elsewhere: 404,
  }),
  'GET /requests': () => ({
    least: 'viewer',
    path: '/requests',
    ok: 200,
    elsewhere: 200,
  }),
  'GET /requests/:id': ({ request }) => ({
    least: 'owner',
    path: `/requests/${request}`,
    ok: 200,
    elsewhere: 404,
  }),
  'POST /requests/:id': ({ request }) => ({
    least: 'owner',
    path: `/requests/${request}`,
    form: { verdict: 'decline', note: 'no' },
    ok: 303,
    elsewhere: 404,
  }),
  'GET /import': () => ({
    least: 'finance',
    path: '/import',
    ok: 200,
    elsewhere: 403,
  }),
  'POST /import': () => ({
    least: 'finance',
    path: '/import',
    form: { file: new File(['group_id,unit,limit,period\r\n104,money,2,month\r\n'], 'limits.csv') },
    ok: 200,
    elsewhere: 403,
  }),
  'GET /export.csv': () => ({
    least: 'finance',
    path: '/export.csv',
    ok: 200,
    elsewhere: 403,
  }),
};

/** For anybody, also before they signed in: they show nothing of anybody, and `POST /signout` is guarded itself. */
const OPEN: readonly RegExp[] = [
  /^GET \/healthz$/,
  /^GET \/favicon\.ico$/,
  /^GET \/assets\/[0-9a-f]{12}\/[a-z.]+$/,
  /^GET \/signin(\/callback)?$/,
  /^(GET|POST) \/signout$/,
  /^POST \/signin\/device(\/session)?$/,
];

interface Sent {
  readonly who?: Who;
  readonly origin?: string;
  /** @default the session's own */
  readonly token?: string;
}

async function send(app: Hono, route: string, { path, form }: Call, { who, origin, token }: Sent) {
  const [method = ''] = route.split(' ');
  const body = new FormData();
  for (const [name, value] of Object.entries(form ?? {})) body.set(name, value);
  body.set('csrf', token ?? (who === undefined ? '' : csrfTokenOf(idOf(who))));
  return app.request(path, {
    method,
    headers: {
      accept: 'text/html',
      origin: origin ?? ORIGIN,
      ...(who !== undefined && { cookie: `tollgate-session=${idOf(who)}` }),
    },
    ...(method === 'POST' && { body }),
  });
}

const routesOf = (app: Hono): readonly string[] => [
  ...new Set(
    app.routes.filter(({ method }) => method !== 'ALL').map(({ method, path }) => `${method} ${path}`),
  ),
];

const PAGES = Object.keys(CALLS);
const callOf = (route: string, of: House): Call => {
  const call = CALLS[route]?.(of);
  if (call === undefined) throw new Error(`no call of ${route}`);
  return call;
};

test('every route of the console stands in a table, and the tables have no others', async () => {
  const { app } = await house();
  const guarded = routesOf(app).filter((route) => !OPEN.some((open) => open.test(route)));
  const api = Object.keys(ACCESS).map((route) => route.replace(' ', ` ${API_PATH}`));
  expect(guarded.toSorted()).toEqual([...api, ...Object.keys(PAGE_ACCESS)].toSorted());
  expect(PAGES.toSorted()).toEqual(Object.keys(PAGE_ACCESS).toSorted());
});

test('a page that nobody wrote into the table is denied to everybody', async () => {
  const { app, pages } = await house();
  pages.get('/secrets', (c) => c.text('secret'));
  const anew = servedTo(USERS.admin, '/', pages);
  expect((await anew.request('/secrets')).status).toBe(403);
  expect((await anew.request('/no-such-page')).status).toBe(404);
  expect(routesOf(app)).not.toContain('GET /secrets');
});

const cases = PAGES.flatMap((route) => EVERYBODY.map((who) => [route, who] as const));

test.each(cases)('%s as %s: what the table says, and nothing of another subtree', async (route, who) => {
  const of = await house();
  const call = callOf(route, of);
  const before = await of.state();
  const response = await send(of.app, route, call, { who });
  const text = await response.text();
  const strengths = standingsOf(USERS[who].roles).map((standing) =>
    standing === 'admin' ? STRENGTH.length : (STRENGTH as readonly string[]).indexOf(standing),
  );
  const mayNot = Math.max(...strengths) < STRENGTH.indexOf(call.least);
  if (mayNot) {
    expect(response.status).toBe(403);
    expect(text).toContain('you must be');
  } else if (who.endsWith('another subtree')) {
    expect(response.status).toBe(call.elsewhere);
    expect(text).not.toMatch(/acme|payments-leads|\bvera\b/);
  } else {
    expect(response.status, text).toBe(call.ok);
    return;
  }
  expect(await of.state()).toEqual(before);
});

test.each(PAGES)('%s tells a stranger nothing but where to sign in, and does nothing', async (route) => {
  const of = await house();
  const before = await of.state();
  const response = await send(of.app, route, callOf(route, of), {});
  expect(response.status).toBe(route.startsWith('GET') ? 302 : 401);
  if (route.startsWith('GET')) expect(response.headers.get('location')).toMatch(/^\/signin\?returnTo=/);
  expect(await response.text()).not.toMatch(/acme|payments-leads|\bvera\b/);
  expect(await of.state()).toEqual(before);
});

const posts = PAGES.filter((route) => route.startsWith('POST'));

test.each(
  posts.flatMap((route) => [
    [route, 'without the token', { who: 'admin', token: '' }] as const,
    [
      route,
      'with the token of another session',
      { who: 'admin', token: csrfTokenOf(idOf('owner')) },
    ] as const,
    [route, 'from another site', { who: 'admin', origin: 'https://elsewhere.example.com' }] as const,
  ]),
)('%s %s is refused to the strongest, and does nothing', async (route, _how, sent) => {
  const of = await house();
  const before = await of.state();
  const response = await send(of.app, route, callOf(route, of), sent);
  expect(response.status).toBe(403);
  expect(await response.text()).toContain('did not come from a page of this session');
  expect(await of.state()).toEqual(before);
});

test.each(PAGES.filter((route) => route.startsWith('GET') && !PAGES.includes(route.replace('GET', 'POST'))))(
  'what is only read takes no form: POST of %s',
  async (route) => {
    const of = await house();
    const before = await of.state();
    const call = callOf(route, of);
    const posted = await send(of.app, 'POST', { ...call, form: {} }, { who: 'admin' });
    expect(posted.status).toBe(404);
    expect(await of.state()).toEqual(before);
  },
);
