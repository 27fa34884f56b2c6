import { expect, test } from 'vitest';
import { accessLevels } from '../../../../functions/console/access.ts';
import { ACCESS, createApi } from '../../../../functions/console/api/create-api.ts';
import { silentLog } from '../../../../functions/core/environment/environment.ts';
import { aJob, consoleHouse, LIMITS, servedTo, USERS } from '../house.ts';

type Who = keyof typeof USERS;
const EVERYBODY = Object.keys(USERS) as Who[];
const ASKED = {
  ...{ subject: 'group/104', limit: 'money-month', amount: '1', reason: 'r' },
  ...{ from: '2026-11-20', until: '2026-12-01' },
};
const GLASS = { subject: 'group/104', jobs: 3, until: '2026-11-23', reason: 'r' };

/** A house in which everything that routes name is there, of acme/payments or below. */
async function furnished() {
  const house = consoleHouse();
  await house.apply(LIMITS);
  await house.apply([
    { kind: 'grant', ...ASKED, from: '2026-11-01' },
    { kind: 'freeze', subject: 'group/104', reason: 'r' },
    { kind: 'breakglass', ...GLASS, users: [7] },
  ]);
  await house.ask([aJob(4711)]);
  const live = await house.limitEdits.live();
  const idIn = (list: string): string =>
    ((live?.document ?? {}) as Record<string, { readonly id: string }[]>)[list]?.[0]?.id ?? '';
  const filed = await house.limitEdits.request(ASKED, {
    ...{ actor: 'vera', rights: [{ role: 'viewer', groups: [101] }] },
  });
  if (filed.outcome !== 'filed') throw new Error(JSON.stringify(filed));
  const ids = { grant: idIn('grants'), freeze: idIn('freezes'), glass: idIn('breakglass') };
  return { house, set: live?.pointer.set ?? '', ids: { ...ids, request: filed.request.id } };
}

let kept: Promise<Furnished> | undefined;
const shared = (): Promise<Furnished> => {
  kept ??= furnished();
  return kept;
};

type Furnished = Awaited<ReturnType<typeof furnished>>;

/** A user of another subtree finds nothing there, or a list without the rest. */
type Elsewhere = 'not there' | 'left out' | 'same';
type Call = readonly [path: string, elsewhere: Elsewhere, body?: object | string];

const WHY = { why: 'because' };
const EDITS = [{ kind: 'set', subject: 'group/104', limit: 'money-month', amount: 2 }];
const OF_CARDS = { subjects: ['group/104'], ...WHY };

const EDITS_BY_ID: readonly (readonly [string, (ids: Furnished['ids']) => object])[] = [
  ['revoke', ({ grant }) => ({ grant })],
  ['unfreeze', ({ freeze }) => ({ freeze })],
  ['end-breakglass', ({ glass: breakglass }) => ({ breakglass })],
  ['review-breakglass', ({ glass: breakglass }) => ({ breakglass, note: 'seen' })],
];

/** One call of each route, about acme/payments or below. */
const CALLS: Readonly<Record<string, Call | ((of: Furnished) => Call)>> = {
  'GET /openapi.json': ['/openapi.json', 'same'],
  'GET /me': ['/me', 'same'],
  'GET /groups': ['/groups', 'left out'],
  'GET /groups/:id': ['/groups/101', 'not there'],
  'GET /projects/:id': ['/projects/1', 'not there'],
  'GET /runner-classes/:name': ['/runner-classes/large', 'not there'],
  'GET /instance': ['/instance', 'not there'],
  'GET /budgets': ['/budgets?below=group/104', 'left out'],
  'GET /limits/own': ['/limits/own?subject=group/104', 'left out'],
  'GET /exceptions': ['/exceptions?subject=group/104', 'left out'],
  'GET /usage': ['/usage?subject=group/104', 'not there'],
  'GET /jobs/:word': ['/jobs/4711', 'not there'],
  'POST /check': ['/check', 'not there', { project: 1, jobs: [{ name: 'unit', tags: [] }] }],
  'GET /shadow': ['/shadow?group=101', 'left out'],
  'GET /rollout': ['/rollout', 'left out'],
  'POST /rollout/forecast': ['/rollout/forecast', 'not there', { subjects: ['group/104'] }],
  'POST /rollout/moves': ['/rollout/moves', 'not there', { ...OF_CARDS, direction: 'next' }],
  'POST /rollout/reports': ['/rollout/reports', 'not there', { ...OF_CARDS, informed: true }],
  'GET /coverage': ['/coverage?group=104', 'not there'],
  'GET /report': ['/report?group=104', 'not there'],
  'GET /report.csv': ['/report.csv?group=104', 'not there'],
  'GET /statements/:month': ['/statements/2026-11?group=104', 'not there'],
  'GET /closed-statements': ['/closed-statements?group=104', 'not there'],
  'GET /closed-statements/numbers': ['/closed-statements/numbers', 'not there'],
  'GET /prices': ['/prices?from=0&until=1', 'not there'],
  'GET /reconciliation': ['/reconciliation', 'same'],
  'GET /limits': ['/limits', 'same'],
  'GET /limits/history': ['/limits/history', 'left out'],
  'POST /limits/preview': ['/limits/preview', 'not there', { edits: EDITS }],
  'POST /limits/backtest': ['/limits/backtest', 'not there', { edits: EDITS }],
  'POST /limits/edits': ['/limits/edits', 'not there', { edits: EDITS, ...WHY }],
  'GET /limits.csv': ['/limits.csv', 'not there'],
  'POST /limits/import': [
    '/limits/import?why=because',
    'not there',
    'group_id,unit,limit,period\r\n104,money,2,month\r\n',
  ],
  ...Object.fromEntries(
    EDITS_BY_ID.map(([kind, edit]) => [
      `POST /limits/edits ${kind}`,
      ({ ids }: Furnished) => ['/limits/edits', 'not there', { edits: [{ kind, ...edit(ids) }], ...WHY }],
    ]),
  ),
  'GET /breakglass': ['/breakglass', 'left out'],
  'GET /requests': ['/requests', 'left out'],
  'POST /requests': ['/requests', 'not there', ASKED],
  'POST /requests/:id/decision': ({ ids }) => [
    `/requests/${ids.request}/decision`,
    'not there',
    { decision: 'decline', note: 'no' },
  ],
};
const callOf = (route: string, of: Furnished): Call => {
  const call = CALLS[route];
  if (call === undefined) throw new Error(`no call of ${route}`);
  return typeof call === 'function' ? call(of) : call;
};

/** The door is open to owners, and the desk asks for more: this freeze is finance's, not their own. */
const MORE_THAN_OWNER: readonly string[] = ['POST /limits/edits unfreeze'];

const anApi = () => {
  const { limitEdits, read, policy, clock } = consoleHouse();
  return createApi({ limitEdits, read, policy, clock, directory: async () => undefined, log: silentLog });
};

async function send(who: Who, route: string, of: Furnished): Promise<Response> {
  const [path, , body] = callOf(route, of);
  const isFile = typeof body === 'string';
  return of.house.appFor(USERS[who]).request(`/api/v1${path}`, {
    method: route.split(' ')[0] ?? '',
    headers: { 'content-type': isFile ? 'text/csv' : 'application/json', 'if-match': `"${of.set}"` },
    ...(body !== undefined && { body: isFile ? body : JSON.stringify(body) }),
  });
}

test('a route that nobody wrote into the table is denied to everybody', async () => {
  const api = anApi();
  api.get('/secrets', (c) => c.text('secret'));
  const app = servedTo(USERS.admin, '/api/v1', api);
  expect((await app.request('/api/v1/secrets')).status).toBe(403);
});

const cases = Object.keys(CALLS).flatMap((route) => EVERYBODY.map((who) => [route, who] as const));

test.each(cases)('%s as %s: what the table says, and nothing of another subtree', async (route, who) => {
  const standings = accessLevels(USERS[who].roles);
  const access = standings.map((standing) => ACCESS[route.split(' ', 2).join(' ')]?.[standing] ?? 'no');
  const isClosed = access.every((each) => each === 'no');
  // Only what may change something needs a house of its own.
  const of = isClosed || route.startsWith('GET') ? await shared() : await furnished();
  const response = await send(who, route, of);
  const text = await response.text();
  if (isClosed) {
    expect(response.status).toBe(403);
    expect(text).toContain('"forbidden"');
    return;
  }
  const [, elsewhere] = callOf(route, of);
  if (who.endsWith('another subtree') && elsewhere !== 'same') {
    expect(response.status).toBe(elsewhere === 'left out' ? 200 : 404);
    for (const theirs of ['acme', 'payments-leads', 'group/104', of.ids.grant, of.ids.request])
      if (elsewhere === 'left out') expect(text).not.toContain(theirs);
    return;
  }
  if (who === 'owner' && MORE_THAN_OWNER.includes(route)) expect(response.status).toBe(403);
  else expect(response.ok, text).toBe(true);
});
