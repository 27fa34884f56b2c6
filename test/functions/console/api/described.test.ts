import { expect, test } from 'vitest';
import { ACCESS } from '../../../../functions/console/api/create-api.ts';
import { aJob, consoleHouse, LIMITS, USERS } from '../house.ts';

interface Schema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly enum?: readonly unknown[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly additionalProperties?: Schema | false;
  readonly items?: Schema;
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly allOf?: readonly Schema[];
}

interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, { readonly responses: Responses }>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> };
}

type Responses = Readonly<
  Record<string, { readonly content: Readonly<Record<string, { readonly schema: Schema }>> }>
>;

const documentOf = async (): Promise<Document> =>
  (await (await consoleHouse().appFor(USERS.none).request('/api/v1/openapi.json')).json()) as Document;

/** Where a schema says nothing: an object without a field, or nothing at all. */
function blanks(schema: Schema, at: string): readonly string[] {
  if (schema.$ref !== undefined) return [];
  // A reference that is told more of has a description beside it.
  const together = (schema.allOf ?? []).filter((part) =>
    Object.keys(part).some((key) => key !== 'description'),
  );
  const parts = [...(schema.anyOf ?? []), ...(schema.oneOf ?? []), ...together];
  const inside = [
    ...parts.map((part, index) => blanks(part, `${at}|${index}`)),
    ...Object.entries(schema.properties ?? {}).map(([name, each]) => blanks(each, `${at}.${name}`)),
    ...(schema.items === undefined ? [] : [blanks(schema.items, `${at}[]`)]),
    ...(schema.additionalProperties ? [blanks(schema.additionalProperties, `${at}.*`)] : []),
  ].flat();
  const saysNothing =
    parts.length === 0 &&
    (schema.type === undefined
      ? schema.enum === undefined
      : schema.type === 'object' &&
        Object.keys(schema.properties ?? (schema.additionalProperties || {})).length === 0);
  return saysNothing || (schema.type === 'array' && schema.items === undefined) ? [at, ...inside] : inside;
}

test('every answer is described, with its fields, and every error is one and the same', async () => {
  const { paths, components } = await documentOf();
  const named = Object.entries(components.schemas).flatMap(([name, schema]) => blanks(schema, name));
  const answers = Object.entries(paths).flatMap(([path, operations]) =>
    Object.entries(operations).flatMap(([method, { responses }]) =>
      Object.entries(responses).map(([status, { content }]) => ({
        at: `${method} ${path} ${status}`,
        status,
        content,
      })),
    ),
  );
  const own = answers.flatMap(({ at, content }) =>
    Object.values(content).flatMap(({ schema }) => blanks(schema, at)),
  );
  expect([...named, ...own]).toEqual([]);
  const errors = answers.filter(({ status }) => !status.startsWith('2'));
  expect(errors.filter(({ status }) => status === 'default')).toHaveLength(Object.keys(ACCESS).length - 1);
  for (const { at, content } of errors)
    expect([at, content['application/json']?.schema.$ref]).toEqual([at, '#/components/schemas/Error']);
});

/** A house in which something of everything is there. */
async function full() {
  const house = consoleHouse();
  await house.apply([
    ...LIMITS,
    { kind: 'set', subject: 'instance', unit: 'money', amount: 9_000, per: 'once', soft: '80%', carry: null },
    { kind: 'set', subject: 'group/102', unit: 'minutes', amount: 900, per: 'month', mode: 'shadow' },
    { kind: 'set', subject: 'project/1', unit: 'starts', amount: 50, per: 'day' },
    { kind: 'set', subject: 'runner-class/large', unit: 'cpu', amount: '4' },
  ]);
  await house.used('group/101', '2026-11-10', 90_000_000, 4);
  await house.used('instance', '2026-11-10', 90_000_000, 4);
  await house.ask([aJob(1), aJob(2), aJob(3, { runnerTags: ['large'] }), aJob(4)]);
  const send = async (path: string, body: unknown, base?: string): Promise<Response> =>
    house.appFor(USERS.finance).request(`/api/v1${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'if-match': `"${base ?? (await live())}"` },
      body: JSON.stringify(body),
    });
  const live = async (): Promise<string> => (await house.limitEdits.live())?.pointer.set ?? 'none';
  const see = (path: string) => house.appFor(USERS.finance).request(`/api/v1${path}`);
  return { ...house, send, see };
}

test('every route answers as it is described', async () => {
  const { send, see, appFor, limitEdits, succeeded, clock } = await full();
  const grant = { limit: 'money-month', from: '2026-11-20', until: '2026-12-01', reason: 'release' };
  const edited = (edit: object) => send('/limits/edits', { edits: [edit], why: 'release' });
  await edited({ kind: 'grant', ...grant, subject: 'group/104', amount: '+1', ticket: 'FIN-1' });
  await edited({ kind: 'grant', ...grant, subject: 'group/101', amount: 400 });
  await send('/requests', {
    ...grant,
    subject: 'group/101',
    amount: 10,
    link: 'https://gitlab.example.com/1',
  });
  await edited({ kind: 'freeze', subject: 'group/201', reason: 'audit', until: '2026-12-01' });
  const byAdmin = async (path: string, body: unknown): Promise<number> => {
    const base = (await limitEdits.live())?.pointer.set;
    const answer = await appFor(USERS.admin).request(`/api/v1${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'if-match': `"${base}"` },
      body: JSON.stringify(body),
    });
    return answer.status;
  };
  const made = [
    { kind: 'breakglass', subject: 'group/101', users: [7], jobs: 3, until: '2026-11-22', reason: 'outage' },
    { kind: 'rollout', subject: 'group/200', cost: 'warn' },
  ];
  expect(await byAdmin('/limits/edits', { edits: made, why: 'new', confirmed: true })).toBe(200);
  const edits = [{ kind: 'set', subject: 'group/101', limit: 'money-month', amount: 510 }];
  clock.advance(1_000);
  for (const path of [
    '/me',
    '/groups',
    '/groups?sort=spent&search=a',
    '/budgets?caps=yes',
    '/budgets?sort=risk&caps=yes&kind=group&unit=money&risk=runs-out&search=a',
    '/budgets?holding=project/1',
    '/exceptions?subject=group/104',
    '/exceptions',
    '/limits/own?subject=group/104',
    '/groups?under=100',
    '/groups?under=roots&max=1',
    ...['/groups/104', '/groups/101', '/groups/102', '/groups/200', '/groups/201', '/groups/190'],
    ...[
      '/projects/1',
      '/runner-classes/large',
      '/instance',
      '/usage?subject=group/101',
      '/usage?subject=instance',
    ],
    ...[
      '/jobs/1',
      '/jobs/3',
      '/shadow',
      '/shadow?group=100',
      '/rollout',
      '/rollout?subject=project/1',
      '/coverage',
      '/coverage?group=100',
      '/limits',
      '/limits/history',
      '/limits.csv',
    ],
    ...[
      '/breakglass',
      '/requests',
      '/statements/2026-11?group=acme/payments',
      '/statements/2026-10?group=instance',
      '/report',
      '/report?group=acme&by=project&period=last-quarter',
      '/report.csv',
      '/closed-statements?group=101',
      '/closed-statements/numbers',
      '/prices?from=0&until=9000000000000',
      '/reconciliation',
    ],
  ]) {
    const answer = await see(path);
    expect([path, answer.status]).toEqual([path, 200]);
  }
  for (const user of [USERS.owner, USERS.viewer, USERS.none])
    for (const path of ['/me', '/limits', '/groups/101', '/groups', '/jobs/1', '/requests', '/openapi.json'])
      await appFor(user).request(`/api/v1${path}`);
  await send('/limits/preview', { edits });
  await send('/limits/preview', { edits: [{ ...edits[0], amount: 'much' }] });
  await send('/limits/backtest', { edits });
  await send('/limits/edits', { edits, why: 'more' });
  await send('/limits/edits', { edits, why: 'the same' });
  const edit = (await limitEdits.live())?.pointer.edit;
  await send('/limits/preview', { edits: [{ kind: 'undo', edit }] });
  await send('/limits/preview', { edits: [{ kind: 'undo', edit: 1 }] });
  await send('/limits/edits', { edits, why: 'late' }, 'gone');
  const [opened] = await limitEdits.breakGlasses();
  await edited({ kind: 'review-breakglass', breakglass: opened?.id, note: 'looked at' });
  await send('/rollout/forecast', { subjects: ['group/101', 'instance'] });
  expect(await byAdmin('/rollout/moves', { subjects: 'all', direction: 'back', why: 'begin' })).toBe(200);
  await send('/rollout/reports', { subjects: ['group/100', 'instance'], why: 'look' });
  await send('/rollout/reports', { subjects: ['group/100', 'instance'], informed: true, why: 'look' });
  await send('/check', { project: 1, jobs: [{ name: 'unit', tags: [], image: 'alpine:3.22' }] });
  await send('/rollout/moves', { subjects: 'all', direction: 'next', why: 'on' });
  await send('/rollout/moves', { subjects: ['group/200'], direction: 'next', force: true, why: 'on' });
  for (const { id, own } of (await (await see('/requests')).json()) as { id: string; own: boolean }[]) {
    expect(own).toBe(true);
    expect(await byAdmin(`/requests/${id}/decision`, { decision: 'decline', note: 'no' })).toBe(200);
  }
  const file = await (await see('/limits.csv')).text();
  for (const more of ['', '&dry_run=yes&backtest=yes'])
    await appFor(USERS.finance).request(`/api/v1/limits/import?why=same${more}`, {
      method: 'POST',
      headers: { 'content-type': 'text/csv' },
      body: file,
    });
  expect(
    Object.keys(ACCESS).filter((route) => route !== 'GET /openapi.json' && !succeeded.has(route)),
  ).toEqual([]);
});
