import { expect, test } from 'vitest';
import { roundTicks, writtenAmount } from '../../../../functions/console/pages/parts/amounts.tsx';
import { renderNotice } from '../../../../functions/console/pages/problem-page.tsx';
import { createUploads, LimitsError } from '../../../../functions/core/limits/limit-table.ts';
import { type LimitKind, readUnits } from '../../../../policies/unit.ts';
import { memoryLimitTable } from '../../../support/tables/memory-limit-table.ts';
import { fakeDesk } from './fake-desk.ts';
import { fakeRead } from './fake-read.ts';
import { pagesApp } from './pages-server.ts';
import { NOW_MS } from './rows.ts';

const gone = async (): Promise<never> => {
  throw new LimitsError('limits_unavailable', 'secret of the table');
};

const form = (fields: Record<string, string>): RequestInit => ({
  method: 'POST',
  body: new URLSearchParams({ csrf: 'token-of-this-session', ...fields }),
});

const SET = {
  kind: 'set',
  subject: 'group/101',
  limit: 'money-month',
  base: 's42',
  amount: '700',
  'was.amount': '500',
  why: 'x',
};

test('an address nobody knows is answered with a page and 404', async () => {
  const { app } = pagesApp('full');
  const answer = await app.request('/no-such-page');
  expect(answer.status).toBe(404);
  expect(await answer.text()).toContain('There is no such page');
});

test('a table without an answer is told as that, and nothing of the error is', async () => {
  const { app } = pagesApp('full', { read: { ...fakeRead('full', fakeDesk()), overview: gone } });
  const answer = await app.request('/');
  expect(answer.status).toBe(503);
  const text = await answer.text();
  expect(text).toContain('Load the page again');
  expect(text).not.toContain('secret of the table');
});

test('every page says at its foot whether the books agree, and comes without that where there is no answer', async () => {
  const { app } = pagesApp('full');
  for (const path of ['/', '/groups/101', '/requests', '/history', '/no-such-page'])
    expect([path, await (await app.request(path)).text()]).toEqual([
      path,
      expect.stringContaining('<footer><p>Counters = usage = statements, checked'),
    ]);
  const without = pagesApp('full', { read: { ...fakeRead('full', fakeDesk()), reconciliation: gone } });
  const answer = await without.app.request('/');
  expect([answer.status, (await answer.text()).includes('<footer>')]).toEqual([200, false]);
});

test('whoever saved without an answer is told that it may be saved', async () => {
  const desk = fakeDesk();
  const { app } = pagesApp('full', { desk: { ...desk, apply: gone } });
  const answer = await app.request('/edit', form({ ...SET, step: 'apply' }));
  expect(answer.status).toBe(503);
  expect(await answer.text()).toContain('It may have been saved or not');
});

test('what somebody may not see cannot be edited by hand-made forms either', async () => {
  const { app, desk } = pagesApp('full');
  const answer = await app.request('/edit', {
    ...form({ ...SET, subject: 'group/555', step: 'apply' }),
    headers: { cookie: 'person=olaf' },
  });
  expect(answer.status).toBe(404);
  expect(desk.set()).toBe('s42');
});

test('only fields that were changed are sent, so that nobody undoes what others did to the rest', async () => {
  const edits: unknown[] = [];
  const desk = fakeDesk();
  const spying = {
    ...desk,
    apply: async (...asked: Parameters<typeof desk.apply>) => {
      edits.push(...asked[0]);
      return desk.apply(...asked);
    },
  };
  const { app } = pagesApp('full', { desk: spying });
  await app.request(
    '/edit',
    form({ ...SET, step: 'apply', mode: 'enforce', 'was.mode': 'enforce', owner: '', 'was.owner': 'old' }),
  );
  expect(edits).toEqual([
    { kind: 'set', subject: 'group/101', limit: 'money-month', amount: '700', owner: null },
  ]);
});

test('a count that is not at its end says how far it is, and goes on from there', async () => {
  const { app } = pagesApp('full');
  const text = async (more: object) => {
    const answer = await app.request('/edit', form({ ...SET, step: 'count', ...more }));
    return (await answer.text()).replace(/<(?!input)[^>]*>/g, '').replace(/\s+/g, ' ');
  };
  const first = await text({});
  expect(first).toContain('9 of 30 days counted, from 23 Oct on: 41 of 12,030 jobs would have failed');
  expect(first).toMatch(
    /Read 20,000 records\.<input type="hidden" form="save" name="cursor" value="c1"\/?>Count the rest/,
  );
  const rest = await text({ cursor: 'c1' });
  expect(rest).toContain('The last 30 days, from 23 Oct on: 41 of 12,030 jobs would have failed');
  expect(rest).not.toContain('name="cursor"');
});

test('a request that somebody may not see is not decided by them', async () => {
  const desk = fakeDesk();
  const read = { ...fakeRead('full', desk), requests: async () => [] };
  const { app } = pagesApp('full', { desk, read });
  const answer = await app.request('/requests/r1', form({ verdict: 'approve' }));
  expect(answer.status).toBe(404);
  expect((await desk.requests({ rights: [], actor: 'x' }))[0]?.state).toBe('pending');
});

test('the version that others saved names nobody to who sees only a part', async () => {
  const { app, desk } = pagesApp('full');
  desk.overtake();
  const tightening = { ...SET, amount: '300', step: 'apply' };
  const answer = await app.request('/edit', { ...form(tightening), headers: { cookie: 'person=olaf' } });
  expect(answer.status).toBe(409);
  expect(await answer.text()).not.toContain('fiona');
});

test('an upload is kept for an hour, and read by nobody else', async () => {
  const table = memoryLimitTable();
  const uploads = createUploads({ table, clock: { nowMs: () => NOW_MS }, newId: () => 'u1' });
  const name = await uploads.keep(7, Buffer.from('rows'));
  expect(Buffer.from((await uploads.read(7, name)) ?? []).toString()).toBe('rows');
  expect(await uploads.read(8, name)).toBeUndefined();
  expect(await uploads.read(7, '../u1')).toBeUndefined();
  expect(table.retired.get('upload-7-u1')).toBe(NOW_MS / 1_000 + 3_600);
});

test.each<[LimitKind, number, string]>([
  ['money', 500_000_000, '500'],
  ['money', 500_250_000, '500.25'],
  ['money', 1, '0.000001'],
  ['money', 0, '0'],
  ['minutes', 5_400, '90'],
  ['minutes', 90, '1.5'],
  ['cpu', 12_000, '12'],
  ['cpu', 1_500, '1500m'],
  ['memory', 6 * 2 ** 30, '6Gi'],
  ['memory', 1_000, '1000'],
  ['jobs', 20, '20'],
])('an amount of %s, %d whole units, is written as %s and read back as the same', (kind, whole, text) => {
  expect(writtenAmount(whole, kind)).toBe(text);
  expect(readUnits(text, kind)).toEqual({ ok: true, amount: whole });
});

test.each([
  [7, 8],
  [1, 1],
  [700_000_000, 800_000_000],
  [0, 1],
])('the ticks of a chart up to %d are round and end at %d', (highest, last) => {
  expect(roundTicks(highest).at(-1)).toBe(last);
});

test('minutes that no decimal can name are shown short', () => {
  expect(writtenAmount(100, 'minutes')).toBe('1.67');
});

test('browsers that ask for an icon on their own get one', async () => {
  const { app } = pagesApp('full');
  const page = await (await app.request('/')).text();
  const href = /rel="icon"[^>]*href="([^"]+)"/.exec(page)?.[1] ?? '';
  for (const path of ['/favicon.ico', href]) {
    const answer = await app.request(path);
    expect(answer.status).toBe(200);
    expect(answer.headers.get('content-type')).toBe('image/svg+xml');
  }
});

test('the way to a page that is not for somebody is not offered', async () => {
  const { app } = pagesApp('full');
  const links = async (person: string) => {
    const text = await (await app.request('/me', { headers: { cookie: `person=${person}` } })).text();
    const nav = /<nav aria-label="Main">.*?<\/nav>/s.exec(text)?.[0] ?? '';
    return [...nav.matchAll(/href="([^"]+)"/g)].map(([, href]) => href);
  };
  expect(await links('fiona')).toContain('/import');
  expect(await links('dev')).not.toContain('/import');
  expect(await links('nobody')).toEqual(['/']);
});

test('a notice before the sign-in has the same dress and runs no markup', async () => {
  const text = await renderNotice({ code: 'x', title: '<b>', sentence: 'a & b', remedy: '"' });
  expect(text).toContain('console.css');
  expect(text).toContain('&lt;b&gt;');
  expect(text).not.toContain('<b>');
});

test('the page of a job says what becomes of jobs while a limit of it cannot be asked', async () => {
  const { app } = pagesApp('full');
  const text = await (await app.request('/jobs/4711')).text();
  expect(text.match(/admits what was left while it cannot be asked/g)).toHaveLength(1);
});

test('an upload without a file, or of an empty one, is told as that', async () => {
  const { app } = pagesApp('full');
  const body = new FormData();
  body.set('csrf', 'token-of-this-session');
  body.set('file', new File([], 'limits.csv'));
  const answer = await app.request('/import', { method: 'POST', body });
  expect(answer.status).toBe(422);
  expect(await answer.text()).toContain('is empty, or none was chosen');
});
