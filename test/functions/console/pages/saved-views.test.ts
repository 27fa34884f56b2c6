import { expect, test } from 'vitest';
import { MemoryTable } from '../../../../functions/core/store/memory-table.ts';
import { LedgerError } from '../../../../functions/core/store/table-failure.ts';
import { dynamoViewStore } from '../../../../functions/core/views/dynamo-view-store.ts';
import { VIEWS_MAX } from '../../../../functions/core/views/saved-view.ts';
import { fakeDesk } from './fake-desk.ts';
import { fakeRead } from './fake-read.ts';
import { type Person, pagesApp } from './pages-server.ts';

function house() {
  const views = dynamoViewStore({ table: new MemoryTable(), instance: 'gitlab.example.com' });
  const asked: unknown[] = [];
  const read = fakeRead('full', fakeDesk());
  const spied = {
    ...read,
    budgets: async (...args: Parameters<typeof read.budgets>) => {
      asked.push(args[0]);
      return read.budgets(...args);
    },
  };
  const { app } = pagesApp('full', { views, read: spied });
  const cookie = (person: Person) => ({ headers: { cookie: `person=${person}` } });
  const get = async (path: string, person: Person = 'dev') =>
    (await app.request(path, cookie(person))).text();
  const post = (fields: Readonly<Record<string, string>>, person: Person = 'dev') =>
    app.request('/budgets/views', {
      method: 'POST',
      body: new URLSearchParams({ csrf: 'token-of-this-session', ...fields }),
      ...cookie(person),
    });
  return { app, views, asked, get, post };
}

const tabsOf = (page: string): readonly (readonly [string, string, boolean])[] => {
  const [, tabs = ''] = /<nav class="tabs"[^>]*>(.*?)<\/nav>/s.exec(page) ?? [];
  return [...tabs.matchAll(/<a href="([^"]+)"( aria-current="page")?>([^<]*)<\/a>/g)].map(
    ([, href = '', current, text = '']) =>
      [text, href.replaceAll('&amp;', '&'), current !== undefined] as const,
  );
};
const KEEP = { step: 'keep', name: 'Projects in trouble', query: 'trouble=runs-out&kind=project' };

test('a view is what the address asks, with a name: a tab for whoever kept it and nobody else', async () => {
  const { get, post, asked } = house();
  const kept = await post(KEEP);
  // In the order of the page, whatever the order it was written in.
  expect([kept.status, kept.headers.get('location')]).toEqual([
    303,
    '/budgets?kind=project&trouble=runs-out',
  ]);
  const page = await get('/budgets?kind=project&trouble=runs-out&sort=&q=');
  expect(tabsOf(page)).toEqual([
    ['By group', '/', false],
    ['Every limit', '/budgets?view=all', false],
    ['Projects in trouble', '/budgets?kind=project&trouble=runs-out', true],
  ]);
  expect(asked.at(-1)).toMatchObject({ kind: 'project', trouble: 'runs-out', sort: 'trouble', caps: true });
  expect(tabsOf(await get('/budgets', 'olaf'))).toHaveLength(2);
});

test('the list opens with the view somebody chose, and everybody else’s does not change', async () => {
  const { get, post, asked } = house();
  await post(KEEP);
  await post({ step: 'first', name: KEEP.name, query: KEEP.query });
  await get('/budgets');
  expect(asked.at(-1)).toMatchObject({ kind: 'project' });
  await get('/budgets?view=all');
  expect(asked.at(-1)).not.toHaveProperty('kind');
  await get('/budgets', 'olaf');
  expect(asked.at(-1)).not.toHaveProperty('kind');
  await post({ step: 'last', name: KEEP.name, query: KEEP.query });
  await get('/budgets');
  expect(asked.at(-1)).not.toHaveProperty('kind');
});

test('finance keeps views for everybody; who is neither finance nor administrator does not', async () => {
  const { get, post, views } = house();
  expect((await post({ ...KEEP, of: 'everybody' }, 'olaf')).status).toBe(403);
  expect(await views.read('everybody')).toEqual({ views: [] });
  expect((await post({ ...KEEP, of: 'everybody' }, 'fiona')).status).toBe(303);
  const page = await get('/budgets', 'dev');
  expect(tabsOf(page).map(([text]) => text)).toContain(KEEP.name);
  expect(page).not.toContain('Everybody’s views');
  expect((await post({ step: 'drop', name: KEEP.name, of: 'everybody' }, 'dev')).status).toBe(403);
  expect((await post({ step: 'drop', name: KEEP.name, of: 'everybody' }, 'fiona')).status).toBe(303);
  expect(await views.read('everybody')).toEqual({ views: [] });
});

test('a view without a name, one too many and one of another form are refused, with why', async () => {
  const { post, views } = house();
  const refused = async (fields: Readonly<Record<string, string>>) => {
    const answer = await post({ ...KEEP, ...fields });
    return [answer.status, /role="alert">([^<]*)</.exec(await answer.text())?.[1]];
  };
  expect(await refused({ name: ' ' })).toEqual([422, 'Give it a name of at most 60 characters.']);
  expect(await refused({ name: 'x'.repeat(61) })).toEqual([422, 'Give it a name of at most 60 characters.']);
  expect(await refused({ step: 'burn' })).toEqual([422, 'Choose what becomes of the view.']);
  for (let at = 0; at < VIEWS_MAX; at += 1) await post({ ...KEEP, name: `v${at}` });
  expect(await refused({})).toEqual([422, expect.stringContaining('There are 20 views already')]);
  expect((await views.read(3)).views).toHaveLength(VIEWS_MAX);
});

test('what somebody wrote by hand is kept as what the page understands of it', async () => {
  const { get, post } = house();
  await post({ ...KEEP, name: '<b>&"', query: 'kind=nothing&sort=evil&q=<script>&over=90&cursor=50' });
  const page = await get('/budgets');
  expect(tabsOf(page).at(-1)).toEqual(['&lt;b&gt;&amp;&quot;', '/budgets?q=%3Cscript%3E&over=90', false]);
});

test('the list comes without views while nobody can read them', async () => {
  const gone = () => Promise.reject(new LedgerError('ledger_unavailable', 'away'));
  const { app } = pagesApp('full', { views: { read: gone, change: gone, forget: gone } });
  const answer = await app.request('/budgets');
  expect([answer.status, (await answer.text()).includes('id="views"')]).toEqual([200, false]);
});
