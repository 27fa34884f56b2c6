import { expect, test } from 'vitest';
import { aJob, consoleHouse, LIMITS, USERS } from '../house.ts';

const EDIT = { kind: 'set', subject: 'group/101', limit: 'money-month', amount: 600 } as const;

async function live() {
  const house = consoleHouse();
  const set = await house.apply(LIMITS);
  const app = house.appFor(USERS.finance);
  const post = (path: string, body: unknown, base: string | undefined = set) =>
    app.request(`/api/v1${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...(base !== '' && { 'if-match': `"${base}"` }) },
      body: JSON.stringify(body),
    });
  return { ...house, set, app, post };
}

test('the ETag of the limits is what an edit has to be of, and the answer names the next one', async () => {
  const { app, post } = await live();
  const etag = (await app.request('/api/v1/limits')).headers.get('etag') ?? '';
  const answer = await post('/limits/edits', { edits: [EDIT], why: 'more' }, etag.slice(1, -1));
  const body = (await answer.json()) as { set: string; rows: object[] };
  expect(answer.status).toBe(200);
  expect(body.rows).toMatchObject([{ field: 'amount', from: 500_000_000, to: 600_000_000 }]);
  expect((await app.request('/api/v1/limits')).headers.get('etag')).toBe(`"${body.set}"`);
});

test('an edit of what is not live any more is refused with both versions', async () => {
  const { post, apply, limitEdits } = await live();
  await apply([{ ...EDIT, amount: 700 }]);
  const answer = await post('/limits/edits', { edits: [EDIT], why: 'more' });
  expect(answer.status).toBe(412);
  expect(await answer.json()).toMatchObject({
    error: { code: 'stale' },
    live: { edit: 2, actor: 'fritz' },
    mine: [{ to: 600_000_000 }],
    theirs: [{ to: 700_000_000 }],
  });
  expect((await limitEdits.live())?.pointer.edit).toBe(2);
});

test('an edit that does not say what it is of changes nothing', async () => {
  const { post, limitEdits } = await live();
  const answer = await post('/limits/edits', { edits: [EDIT], why: 'more' }, '');
  expect(answer.status).toBe(428);
  expect(await answer.json()).toMatchObject({ error: { code: 'base_missing' } });
  expect((await limitEdits.live())?.pointer.edit).toBe(1);
});

test('what is wrong is told at once and where it stands, in shape and in meaning', async () => {
  const { post } = await live();
  const shape = await post('/limits/edits', { edits: [{ kind: 'sett' }, EDIT], hint: 1 });
  expect(shape.status).toBe(422);
  const { problems } = (await shape.json()) as { problems: { path: unknown[] }[] };
  expect(problems.map(({ path }) => path.join('.'))).toEqual(expect.arrayContaining(['edits.0.kind', 'why']));
  const meaning = await post('/limits/edits', { edits: [{ ...EDIT, amount: '5OO' }], why: 'more' });
  expect(meaning.status).toBe(422);
  expect(await meaning.json()).toMatchObject({ problems: [{ path: ['edits', 0, 'amount'] }] });
});

test('a table that does not answer is 503 with a time to wait, and nothing of its message', async () => {
  const house = consoleHouse();
  const error = Object.assign(new Error('secret endpoint'), { name: 'LimitsError' });
  house.deps.limitTable.getPointer = async () => Promise.reject(error);
  const answer = await house.appFor(USERS.finance).request('/api/v1/groups');
  expect(answer.status).toBe(503);
  expect(answer.headers.get('retry-after')).toBe('2');
  expect(await answer.text()).not.toContain('secret');
});

test('the last edit is taken back by its number, and only while it is the last', async () => {
  const { post, apply, set, limitEdits } = await live();
  const second = await apply([EDIT]);
  const undo = { edits: [{ kind: 'undo', edit: 2 }] };
  const shown = await post('/limits/preview', undo, second);
  expect(await shown.json()).toMatchObject({
    outcome: 'valid',
    rows: [{ from: 600_000_000, to: 500_000_000 }],
  });
  expect((await post('/limits/edits', { ...undo, why: 'slip' }, set)).status).toBe(412);
  const both = { edits: [...undo.edits, EDIT], why: 'slip' };
  expect(await (await post('/limits/edits', both, second)).json()).toMatchObject({
    problems: [{ path: ['edits', 0, 'edit'] }],
  });
  expect((await post('/limits/edits', { ...undo, why: 'slip' }, second)).status).toBe(200);
  const third = (await limitEdits.live())?.pointer.set;
  const late = await post('/limits/edits', { ...undo, why: 'slip' }, third);
  expect(await late.json()).toMatchObject({ error: { code: 'stale' }, live: { edit: 3, base: second } });
});

test('nobody takes back, or sees, what was changed of a group that is not theirs', async () => {
  const { apply, appFor, limitEdits } = await live();
  const base = await apply([{ kind: 'set', subject: 'group/200', limit: 'money-month', amount: 90 }]);
  for (const path of ['/limits/preview', '/limits/edits']) {
    const undo = { edits: [{ kind: 'undo', edit: 2 }], ...(path.endsWith('edits') && { why: 'mine' }) };
    const answer = await appFor(USERS.owner).request(`/api/v1${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'if-match': `"${base}"` },
      body: JSON.stringify(undo),
    });
    expect([path, answer.status]).toEqual([path, 404]);
    expect(await answer.text()).not.toContain('200');
  }
  expect((await limitEdits.live())?.pointer.edit).toBe(2);
});

test('what edits of a set that is gone would do cannot be told, and is refused like them', async () => {
  const { post } = await live();
  for (const path of ['/limits/preview', '/limits/backtest'])
    expect((await post(path, { edits: [EDIT] }, 'gone')).status).toBe(412);
});

test('the limits written on a subject are told, also those that are not in force', async () => {
  const { app, apply } = await live();
  await apply([{ ...EDIT, from: '2030-01-01' }]);
  const own = await (await app.request('/api/v1/limits/own?subject=group/101')).json();
  expect(own).toEqual([
    { id: 'money-month', kind: 'money', unit: 'micros', amount: 600_000_000, per: 'month', inForce: false },
  ]);
});

test('a file that does not say what it is of is made live only with If-Match, which never contradicts it', async () => {
  const { app, set, limitEdits } = await live();
  const send = async (body: string, more: object = {}) =>
    app.request('/api/v1/limits/import?why=own', {
      method: 'POST',
      headers: { 'content-type': 'text/csv', ...more },
      body,
    });
  const file = 'group_id,unit,limit,period\r\n104,money,1,month\r\n';
  const missing = await send(file);
  expect([missing.status, await missing.json()]).toMatchObject([428, { error: { code: 'base_missing' } }]);
  const exported = await (await app.request('/api/v1/limits.csv')).text();
  const other = await send(exported, { 'if-match': '"another"' });
  expect([other.status, await other.json()]).toMatchObject([422, { problems: [{ path: [0, 'version'] }] }]);
  expect((await limitEdits.live())?.pointer.edit).toBe(1);
  expect((await send(file, { 'if-match': `"${set}"` })).status).toBe(200);
});

test('jobs that would have failed are counted job by job, and too many counts are told when to come again', async () => {
  const { post, ask, apply, clock } = await live();
  await ask([1, 2, 3].map((jobId) => aJob(jobId)));
  const base = await apply([{ ...EDIT, amount: 0 }]);
  // One that is rejected now is a job that others can be counted back from.
  await ask([aJob(4)]);
  clock.advance(1_000);
  const edits = [{ kind: 'set', subject: 'group/104', limit: 'money-month', amount: 1 }];
  const counted = await post('/limits/backtest', { edits }, base);
  expect(counted.status).toBe(200);
  expect(await counted.json()).toMatchObject({
    outcome: 'counted',
    set: base,
    subjects: [{ subject: 'group/104', jobs: 4, wouldFail: 4, wouldFailNow: 4, failed: 1 }],
  });
  for (let time = 0; time < 5; time += 1) await post('/limits/backtest', { edits }, base);
  const refused = await post('/limits/backtest', { edits }, base);
  expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '60']);
  expect(await refused.json()).toMatchObject({ error: { code: 'too_often' } });
});

test('a file that is only looked at has its jobs counted, too, where that is asked for', async () => {
  const { app, ask, apply, clock } = await live();
  await apply([{ ...EDIT, amount: 0 }]);
  await ask([aJob(4)]);
  clock.advance(1_000);
  const send = (more: string) =>
    app.request(`/api/v1/limits/import?why=look&dry_run=yes${more}`, {
      method: 'POST',
      headers: { 'content-type': 'text/csv' },
      body: 'group_id,unit,limit,period\r\n104,money,1,month\r\n',
    });
  const looked = await (await send('')).json();
  expect(looked).not.toHaveProperty('backtest');
  expect(looked).toMatchObject({
    totals: [{ kind: 'money', per: 'month', since: null, after: { limits: 4, amount: '1001000000' } }, {}],
  });
  expect(await (await send('&backtest=yes')).json()).toMatchObject({
    outcome: 'valid',
    backtest: { outcome: 'counted', all: { jobs: 1, wouldFail: 1, failed: 1 } },
  });
});

test('a parameter that does not exist is refused, since without its filter all would be shown', async () => {
  const { app } = await live();
  const refused = await app.request('/api/v1/budgets?serch=web&kind=group');
  expect(refused.status).toBe(422);
  expect(await refused.json()).toMatchObject({ error: { code: 'invalid' }, problems: [{ path: ['serch'] }] });
  expect((await app.request('/api/v1/budgets?search=web&kind=group')).status).toBe(200);
});
