import { expect, test } from 'vitest';
import { accessLevels } from '../../../../functions/console/access.ts';
import { ACCESS } from '../../../../functions/console/api/create-api.ts';
import { API_PATH } from '../../../../functions/console/api/http.ts';
import { PAGE_ACCESS } from '../../../../functions/console/pages/page-access.ts';
import { makeCsrfToken } from '../../../../functions/core/signin/sessions.ts';
import { closeMonths } from '../../../support/statements/closed-months.ts';
import { aJob, consoleHouse, LIMITS, servedTo, USERS } from '../house.ts';
import { EVERYBODY, sessionOf, signedInConsole, type Who } from '../signed-in.ts';

const ASKED = {
  ...{ subject: 'group/104', limit: 'money-month', amount: '1', reason: 'r' },
  ...{ from: '2026-11-20', until: '2026-12-01' },
};

/** A house in which everything that routes name is there. */
async function house() {
  const real = consoleHouse();
  await real.apply(LIMITS);
  await real.ask([aJob(4711)]);
  await closeMonths(real.chain, 'group/104', ['2026-09']);
  const by = {
    actor: 'ada',
    rights: [{ role: 'admin' } as const],
    why: 'w',
    source: 'test',
    confirmed: true,
  };
  for (const edit of [
    { kind: 'rollout', subject: 'group/104', cost: 'shadow', capacity: 'shadow' },
    // Taken back it tightens, which an owner may.
    { kind: 'set', subject: 'group/104', limit: 'jobs-now', amount: 12 },
  ] as const)
    await real.limitEdits.apply([edit], { ...by, base: (await real.limitEdits.live())?.pointer.set });
  const filed = await real.limitEdits.request(ASKED, {
    ...{ actor: 'vera', rights: [{ role: 'viewer', groups: [101] }] },
  });
  const told: string[] = [];
  const notifyOwner = async ({ path }: { readonly path: string }) => {
    told.push(path);
    return 'sent' as const;
  };
  const { app, pages, send } = await signedInConsole(real, { notifyOwner });
  const state = async () => ({
    set: (await real.limitEdits.live())?.pointer.set,
    requests: await real.limitEdits.requests({ rights: [{ role: 'admin' }], actor: 'ada' }),
    told: [...told],
  });
  const request = filed.outcome === 'filed' ? filed.request.id : '';
  return { app, pages, send, request, state, set: (await state()).set ?? '' };
}

type House = Awaited<ReturnType<typeof house>>;
type Form = Readonly<Record<string, string | File>>;

const STRENGTH = ['none', 'viewer', 'owner', 'finance'] as const;
const FILE = new File(['group_id,unit,limit,period\r\n104,money,2,month\r\n'], 'limits.csv');

/**
 * One call of each page, about acme/payments/cards: the weakest who may, written down here once more because the table of the
 * pages alone would agree with itself; the address; the statuses for who may, and for who may in another subtree only; a form.
 */
const CALLS: Readonly<
  Record<string, readonly [(typeof STRENGTH)[number], string, number, number, ((of: House) => Form)?]>
> = {
  'GET /': ['none', '/', 200, 200],
  'GET /budgets': ['viewer', '/budgets', 200, 200],
  'GET /me': ['none', '/me', 200, 200],
  'POST /me/sessions': ['none', '/me/sessions', 303, 303, () => ({ step: 'others' })],
  'GET /go': ['none', '/go', 303, 303],
  'GET /instance': ['finance', '/instance', 200, 403],
  'GET /:folder{groups|projects|runner-classes}/:name': ['viewer', '/groups/104', 200, 404],
  'GET /jobs': ['viewer', '/jobs', 200, 200],
  'GET /jobs/:word': ['viewer', '/jobs/4711', 200, 404],
  'GET /shadow': ['viewer', '/shadow', 200, 200],
  'GET /rollout': ['viewer', '/rollout', 200, 200],
  'GET /rollout/step': ['owner', '/rollout/step?subject=group/104', 200, 404],
  'POST /rollout/move': [
    ...(['finance', '/rollout/move', 303, 404] as const),
    ({ set }) => ({ subject: 'group/104', direction: 'next', base: set, why: 'w', force: 'yes' }),
  ],
  'POST /rollout/report': ['owner', '/rollout/report', 303, 404, () => ({ subject: 'group/104', why: 'w' })],
  'GET /coverage': ['viewer', '/coverage?group=104', 200, 404],
  'GET /reports': ['viewer', '/reports?group=104', 200, 404],
  'GET /reports/:file{spend.csv|groups.csv}': ['viewer', '/reports/groups.csv?group=104', 200, 404],
  'GET /statements': ['viewer', '/statements?group=104', 200, 404],
  'GET /statements/:month': ['viewer', '/statements/2026-09?group=104', 200, 404],
  'GET /statements/:month/:file': ['viewer', '/statements/2026-09/focus.csv?group=104', 200, 404],
  'GET /break-glass': ['viewer', '/break-glass', 200, 200],
  'GET /history': ['viewer', '/history', 200, 200],
  'GET /history/:edit': ['viewer', '/history/1', 200, 200],
  'GET /history/:edit/undo': ['owner', '/history/3/undo', 200, 404],
  'POST /history/:edit/undo': ['owner', '/history/3/undo', 303, 404, () => ({ why: 'w' })],
  'GET /edit': ['owner', '/edit?kind=set&subject=group/104&limit=money-month', 200, 404],
  'POST /edit': [
    ...(['owner', '/edit', 303, 404] as const),
    ({ set }) => ({
      ...{ kind: 'set', subject: 'group/104', limit: 'money-month', base: set, step: 'apply', why: 'w' },
      ...{ 'was.amount': '3', amount: '2' },
    }),
  ],
  'GET /ask': ['viewer', '/ask?subject=group/104', 200, 404],
  'POST /ask': ['viewer', '/ask', 303, 404, () => ASKED],
  'GET /requests': ['viewer', '/requests', 200, 200],
  'GET /requests/:id': ['owner', '/requests/:id', 200, 404],
  'POST /requests/:id': ['owner', '/requests/:id', 303, 404, () => ({ decision: 'decline', note: 'no' })],
  'GET /import': ['finance', '/import', 200, 403],
  'POST /import': ['finance', '/import', 200, 403, () => ({ file: FILE })],
  'GET /export.csv': ['finance', '/export.csv', 200, 403],
};

/** For anybody, also before they signed in: they show nothing of anybody, and `POST /signout` is guarded itself. */
const OPEN =
  /^(GET \/(healthz|favicon\.ico|assets\/[0-9a-f]{12}\/[a-z.]+|signin(\/callback)?)|(GET|POST) \/signout|POST \/signin\/device(\/session)?)$/;

const routesOf = ({ app }: House): readonly string[] => [
  ...new Set(
    app.routes.filter(({ method }) => method !== 'ALL').map(({ method, path }) => `${method} ${path}`),
  ),
];

const PAGES = Object.keys(CALLS);

/** Sends the call of a route. */
function called(of: House, route: string, who?: Who, more?: { origin?: string; token?: string }) {
  const [, path = '', , , form] = CALLS[route] ?? [];
  return of.send(who, path.replace(':id', of.request), form?.(of), more);
}

test('every route of the console stands in a table, and the tables have no others', async () => {
  const guarded = routesOf(await house()).filter((route) => !OPEN.test(route));
  const api = Object.keys(ACCESS).map((route) => route.replace(' ', ` ${API_PATH}`));
  expect(guarded.toSorted()).toEqual([...api, ...Object.keys(PAGE_ACCESS)].toSorted());
  expect(PAGES.toSorted()).toEqual(Object.keys(PAGE_ACCESS).toSorted());
});

test('a page that nobody wrote into the table is denied to everybody', async () => {
  const { pages } = await house();
  pages.get('/secrets', (c) => c.text('secret'));
  const anew = servedTo(USERS.admin, '/', pages);
  expect((await anew.request('/secrets')).status).toBe(403);
  expect((await anew.request('/no-such-page')).status).toBe(404);
});

const THEIRS = /acme|payments-leads|\bvera\b/;

test.each(PAGES.flatMap((route) => EVERYBODY.map((who) => [route, who] as const)))(
  '%s as %s: what the table says, and nothing of another subtree',
  async (route, who) => {
    const of = await house();
    const [least = 'none', , ok, elsewhere] = CALLS[route] ?? [];
    const before = await of.state();
    const { status, text } = await called(of, route, who);
    const strengths = accessLevels(USERS[who].roles).map((standing) =>
      standing === 'admin' ? STRENGTH.length : (STRENGTH as readonly string[]).indexOf(standing),
    );
    if (Math.max(...strengths) < STRENGTH.indexOf(least)) {
      expect(status).toBe(403);
      expect(text).toContain('you must be');
    } else if (who.endsWith('another subtree')) {
      expect(status).toBe(elsewhere);
      expect(text).not.toMatch(THEIRS);
    } else {
      expect(status, text).toBe(ok);
      return;
    }
    expect(await of.state()).toEqual(before);
  },
);

const [GETS, POSTS] = ['GET', 'POST'].map((method) => PAGES.filter((route) => route.startsWith(method)));

test.each(PAGES)('%s tells a stranger nothing but where to sign in, and does nothing', async (route) => {
  const of = await house();
  const before = await of.state();
  const { status, to, text } = await called(of, route);
  expect(status).toBe(route.startsWith('GET') ? 302 : 401);
  if (route.startsWith('GET')) expect(to).toMatch(/^\/signin\?returnTo=/);
  expect(text).not.toMatch(THEIRS);
  expect(await of.state()).toEqual(before);
});

test.each(
  (POSTS ?? []).flatMap((route) => [
    [route, 'without the token', { token: '' }] as const,
    [route, 'with the token of another session', { token: makeCsrfToken(sessionOf('owner')) }] as const,
    [route, 'from another site', { origin: 'https://elsewhere.example.com' }] as const,
  ]),
)('%s %s is refused to the strongest, and does nothing', async (route, _how, sent) => {
  const of = await house();
  const before = await of.state();
  const { status, text } = await called(of, route, 'admin', sent);
  expect(status).toBe(403);
  expect(text).toContain('did not come from a page of this session');
  expect(await of.state()).toEqual(before);
});

test('what is only read takes no form', async () => {
  const of = await house();
  const before = await of.state();
  for (const route of GETS?.filter((each) => !PAGES.includes(each.replace('GET', 'POST'))) ?? [])
    expect([route, (await of.send('admin', CALLS[route]?.[1].split('?')[0] ?? '', {})).status]).toEqual([
      route,
      404,
    ]);
  expect(await of.state()).toEqual(before);
});

test('a stranger is told nothing by any route of the API, and health is open', async () => {
  const { app } = await house();
  for (const route of [...Object.keys(ACCESS), 'GET /nothing']) {
    const [method = '', path = ''] = route.split(' ');
    const answer = await app.request(`${API_PATH}${path.replace(/:\w+/, '1')}`, { method });
    expect([route, answer.status]).toEqual([route, 401]);
    expect(await answer.json()).toMatchObject({ error: { code: 'signed_out' } });
  }
  const health = await app.request('/healthz');
  expect(await health.json()).toEqual({ status: 'ok' });
  expect(health.headers.get('content-security-policy')).toContain("frame-ancestors 'none'");
  expect(health.headers.get('cache-control')).toBe('no-store');
  const large = { method: 'POST', body: 'x'.repeat(4 * 1024 * 1024 + 1) };
  expect((await app.request(`${API_PATH}/limits/import`, large)).status).toBe(413);
});
