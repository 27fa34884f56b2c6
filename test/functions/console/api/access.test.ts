import { expect, test } from 'vitest';
import { standingsOf } from '../../../../functions/console/access.ts';
import { ACCESS, createApi } from '../../../../functions/console/api/create-api.ts';
import { silentLog } from '../../../../functions/core/environment/environment.ts';
import { aJob, consoleHouse, LIMITS, servedTo, USERS } from '../house.ts';

type Who = keyof typeof USERS;
const EVERYBODY = Object.keys(USERS) as Who[];

/** A house in which everything that routes name is there, of acme/payments or below. */
async function furnished() {
  const house = consoleHouse();
  await house.apply(LIMITS);
  await house.apply([
    {
      kind: 'grant',
      subject: 'group/104',
      limit: 'money-month',
      amount: 1,
      from: '2026-11-01',
      until: '2026-12-01',
      reason: 'r',
    },
    { kind: 'freeze', subject: 'group/104', reason: 'r' },
    { kind: 'breakglass', subject: 'group/104', users: [7], jobs: 3, until: '2026-11-23', reason: 'r' },
  ]);
  await house.ask([aJob(4711)]);
  const live = await house.desk.live();
  const document = live?.document as unknown as {
    grants: { id: string }[];
    freezes: { id: string }[];
    breakglass: { id: string }[];
  };
  const asked = {
    subject: 'group/104',
    limit: 'money-month',
    amount: '1',
    from: '2026-11-20',
    until: '2026-12-01',
    reason: 'r',
  };
  const filed = await house.desk.request(asked, {
    actor: 'vera',
    rights: [{ role: 'viewer', groups: [101] }],
  });
  if (filed.outcome !== 'filed') throw new Error(JSON.stringify(filed));
  const ids = {
    grant: document.grants[0]?.id ?? '',
    freeze: document.freezes[0]?.id ?? '',
    glass: document.breakglass[0]?.id ?? '',
    request: filed.request.id,
  };
  return { house, set: live?.pointer.set ?? '', ids, asked };
}

type Furnished = Awaited<ReturnType<typeof furnished>>;

interface Call {
  readonly path: string;
  readonly body?: object | string;
  /** What somebody of another subtree meets: nothing there, or a list without what is not theirs. */
  readonly elsewhere: 'not there' | 'left out' | 'same';
}

const WHY = { why: 'because' };

/** One call of each route, about acme/payments or below. */
const CALLS: Readonly<Record<string, (of: Furnished) => Call>> = {
  'GET /openapi.json': () => ({ path: '/openapi.json', elsewhere: 'same' }),
  'GET /me': () => ({ path: '/me', elsewhere: 'same' }),
  'GET /groups': () => ({ path: '/groups', elsewhere: 'left out' }),
  'GET /groups/:id': () => ({ path: '/groups/101', elsewhere: 'not there' }),
  'GET /projects/:id': () => ({ path: '/projects/1', elsewhere: 'not there' }),
  'GET /runner-classes/:name': () => ({ path: '/runner-classes/large', elsewhere: 'not there' }),
  'GET /instance': () => ({ path: '/instance', elsewhere: 'not there' }),
  'GET /budgets': () => ({ path: '/budgets?below=group/104', elsewhere: 'left out' }),
  'GET /limits/own': () => ({ path: '/limits/own?subject=group/104', elsewhere: 'left out' }),
  'GET /exceptions': () => ({ path: '/exceptions?subject=group/104', elsewhere: 'left out' }),
  'GET /usage': () => ({ path: '/usage?subject=group/104', elsewhere: 'not there' }),
  'GET /jobs/:word': () => ({ path: '/jobs/4711', elsewhere: 'not there' }),
  'POST /check': () => ({
    path: '/check',
    body: { project: 1, jobs: [{ name: 'unit', tags: [] }] },
    elsewhere: 'not there',
  }),
  'GET /shadow': () => ({ path: '/shadow?group=101', elsewhere: 'left out' }),
  'GET /rollout': () => ({ path: '/rollout', elsewhere: 'left out' }),
  'POST /rollout/forecast': () => ({
    path: '/rollout/forecast',
    body: { subjects: ['group/104'] },
    elsewhere: 'not there',
  }),
  'POST /rollout/moves': () => ({
    path: '/rollout/moves',
    body: { subjects: ['group/104'], direction: 'next', ...WHY },
    elsewhere: 'not there',
  }),
  'POST /rollout/reports': () => ({
    path: '/rollout/reports',
    body: { subjects: ['group/104'], told: true, ...WHY },
    elsewhere: 'not there',
  }),
  'GET /coverage': () => ({ path: '/coverage?group=104', elsewhere: 'not there' }),
  'GET /report': () => ({ path: '/report?group=104', elsewhere: 'not there' }),
  'GET /report.csv': () => ({ path: '/report.csv?group=104', elsewhere: 'not there' }),
  'GET /statements/:month': () => ({ path: '/statements/2026-11?group=104', elsewhere: 'not there' }),
  'GET /closed-statements': () => ({ path: '/closed-statements?group=104', elsewhere: 'not there' }),
  'GET /closed-statements/numbers': () => ({ path: '/closed-statements/numbers', elsewhere: 'not there' }),
  'GET /prices': () => ({ path: '/prices?from=0&until=1', elsewhere: 'not there' }),
  'GET /reconciliation': () => ({ path: '/reconciliation', elsewhere: 'same' }),
  'GET /limits': () => ({ path: '/limits', elsewhere: 'same' }),
  'GET /limits/history': () => ({ path: '/limits/history', elsewhere: 'left out' }),
  'POST /limits/preview': () => ({
    path: '/limits/preview',
    body: { edits: [{ kind: 'set', subject: 'group/104', limit: 'money-month', amount: 2 }] },
    elsewhere: 'not there',
  }),
  'POST /limits/backtest': () => ({
    path: '/limits/backtest',
    body: { edits: [{ kind: 'set', subject: 'group/104', limit: 'money-month', amount: 2 }] },
    elsewhere: 'not there',
  }),
  'POST /limits/edits': () => ({
    path: '/limits/edits',
    body: { edits: [{ kind: 'set', subject: 'group/104', limit: 'money-month', amount: 2 }], ...WHY },
    elsewhere: 'not there',
  }),
  'GET /limits.csv': () => ({ path: '/limits.csv', elsewhere: 'not there' }),
  'POST /limits/import': () => ({
    path: '/limits/import?why=because',
    body: 'group_id,unit,limit,period\r\n104,money,2,month\r\n',
    elsewhere: 'not there',
  }),
  'POST /grants': ({ asked }) => ({ path: '/grants', body: asked, elsewhere: 'not there' }),
  'POST /grants/:id/revoke': ({ ids }) => ({
    path: `/grants/${ids.grant}/revoke`,
    body: WHY,
    elsewhere: 'not there',
  }),
  'POST /freezes': () => ({
    path: '/freezes',
    body: { subject: 'group/104', reason: 'again' },
    elsewhere: 'not there',
  }),
  'POST /freezes/:id/lift': ({ ids }) => ({
    path: `/freezes/${ids.freeze}/lift`,
    body: WHY,
    elsewhere: 'not there',
  }),
  'GET /breakglass': () => ({ path: '/breakglass', elsewhere: 'left out' }),
  'POST /breakglass': () => ({
    path: '/breakglass',
    body: { subject: 'group/104', users: [8], jobs: 1, until: '2026-11-23', reason: 'r' },
    elsewhere: 'not there',
  }),
  'POST /breakglass/:id/end': ({ ids }) => ({
    path: `/breakglass/${ids.glass}/end`,
    body: WHY,
    elsewhere: 'not there',
  }),
  'POST /breakglass/:id/review': ({ ids }) => ({
    path: `/breakglass/${ids.glass}/review`,
    body: { note: 'seen' },
    elsewhere: 'not there',
  }),
  'GET /requests': () => ({ path: '/requests', elsewhere: 'left out' }),
  'POST /requests': ({ asked }) => ({ path: '/requests', body: asked, elsewhere: 'not there' }),
  'POST /requests/:id/decision': ({ ids }) => ({
    path: `/requests/${ids.request}/decision`,
    body: { verdict: 'decline', note: 'no' },
    elsewhere: 'not there',
  }),
};

/** The door is open to owners, and the desk asks for more: this freeze is finance's, not their own. */
const MORE_THAN_OWNER: readonly string[] = ['POST /freezes/:id/lift'];

const routes = (): readonly string[] => {
  const { desk, read, policy, clock } = consoleHouse();
  const api = createApi({ desk, read, policy, clock, directory: async () => undefined, log: silentLog });
  return [
    ...new Set(
      api.routes.filter(({ method }) => method !== 'ALL').map(({ method, path }) => `${method} ${path}`),
    ),
  ];
};

async function send(who: Who, route: string, of: Furnished): Promise<Response> {
  const call = CALLS[route]?.(of);
  if (call === undefined) throw new Error(`no call of ${route}`);
  const [method = ''] = route.split(' ');
  const isFile = typeof call.body === 'string';
  return of.house.appFor(USERS[who]).request(`/api/v1${call.path}`, {
    method,
    headers: { 'content-type': isFile ? 'text/csv' : 'application/json', 'if-match': `"${of.set}"` },
    ...(call.body !== undefined && { body: isFile ? String(call.body) : JSON.stringify(call.body) }),
  });
}

test('every route stands in the table, and the table has no others', () => {
  expect(routes().toSorted()).toEqual(Object.keys(ACCESS).toSorted());
});

test('a route that nobody wrote into the table is denied to everybody', async () => {
  const { desk, read, policy, clock } = consoleHouse();
  const api = createApi({ desk, read, policy, clock, directory: async () => undefined, log: silentLog });
  api.get('/secrets', (c) => c.text('secret'));
  const app = servedTo(USERS.admin, '/api/v1', api);
  expect((await app.request('/api/v1/secrets')).status).toBe(403);
});

const cases = Object.keys(CALLS).flatMap((route) => EVERYBODY.map((who) => [route, who] as const));

test.each(cases)('%s as %s: what the table says, and nothing of another subtree', async (route, who) => {
  const of = await furnished();
  const response = await send(who, route, of);
  const text = await response.text();
  const standings = standingsOf(USERS[who].roles);
  const access = standings.map((standing) => ACCESS[route]?.[standing] ?? 'no');
  if (access.every((each) => each === 'no')) {
    expect(response.status).toBe(403);
    expect(text).toContain('"forbidden"');
    return;
  }
  const elsewhere = CALLS[route]?.(of).elsewhere;
  if (who.endsWith('another subtree') && elsewhere !== 'same') {
    expect(response.status).toBe(elsewhere === 'left out' ? 200 : 404);
    for (const theirs of ['acme', 'payments-leads', 'group/104', of.ids.grant, of.ids.request])
      if (elsewhere === 'left out') expect(text).not.toContain(theirs);
    return;
  }
  if (who === 'owner' && MORE_THAN_OWNER.includes(route)) expect(response.status).toBe(403);
  else expect(response.ok, text).toBe(true);
});
