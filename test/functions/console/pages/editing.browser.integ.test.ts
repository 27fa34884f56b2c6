import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import type { OwnerMessage } from '../../../../functions/answers/rollout/shadow.ts';
import { openBrowser } from './open-browser.ts';
import { type PagesServer, type Person, startPages } from './pages-server.ts';

let browser: Browser;
let server: PagesServer;
let told: OwnerMessage[];

beforeAll(async () => {
  browser = await openBrowser();
});

afterAll(async () => {
  await server?.close();
  await browser?.close();
});

// What one test saves, the next one must not find.
beforeEach(async () => {
  await server?.close();
  told = [];
  server = await startPages('full', {
    tellOwner: async (message) => {
      told.push(message);
      return 'sent';
    },
    checkApproval: async (token) => ({ outcome: token === 'signed' ? 'valid' : 'altered', role: 'finance' }),
  });
});

async function as(person: Person, path: string): Promise<Page> {
  const context = await browser.newContext();
  await context.addCookies([{ name: 'person', value: person, url: server.origin }]);
  const page = await context.newPage();
  await page.goto(server.origin + path);
  return page;
}

const LIMIT = '/edit?kind=set&subject=group/101&limit=money-month';

async function change(page: Page, amount: string): Promise<void> {
  await page.getByLabel('Limit', { exact: true }).fill(amount);
  await page.getByLabel('Why').fill('Release week');
  await page.getByRole('button', { name: 'See what it does' }).click();
}

const save = (page: Page): Promise<void> => page.getByRole('button', { name: 'Save' }).click();
const heading = (page: Page): Promise<string | null> => page.getByRole('heading', { level: 1 }).textContent();
const amountNow = async (): Promise<unknown> => server.desk.amount();

test('an edit shows what it does before it does it, and is saved by a second click', async () => {
  const page = await as('fiona', LIMIT);
  await change(page, '700');
  // The page counts on by itself until every job of the span is read.
  await page.getByText('Read 31,000 records').waitFor();
  const text = await page.getByRole('main').textContent();
  expect(text).toContain('jobs would have failed');
  expect(text).toContain('Given more than once');
  expect(await amountNow()).toBe(500);
  await save(page);
  expect(await page.getByRole('status').textContent()).toContain('Saved as edit 43');
  expect(await amountNow()).toBe(700);
});

test('on a telephone what an edit does is read without scrolling sideways', async () => {
  const page = await as('fiona', LIMIT);
  await page.setViewportSize({ width: 380, height: 800 });
  await change(page, '700');
  const parts = page.locator('.scroll');
  expect(await parts.count()).toBe(2);
  for (const part of await parts.all())
    expect(await part.evaluate(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth)).toBe(0);
  expect(await parts.last().textContent()).toContain('then');
});

test('an edit without a reason is not taken', async () => {
  const page = await as('fiona', LIMIT);
  await page.getByLabel('Limit', { exact: true }).fill('700');
  // The browser would ask for it first.
  await page.evaluate('document.querySelector("form.card").noValidate = true');
  await page.getByRole('button', { name: 'See what it does' }).click();
  expect(await page.getByRole('alert').textContent()).toContain('Say why');
  expect(await page.getByLabel('Why').getAttribute('aria-invalid')).toBe('true');
});

test('what cannot be read is told beside its field, and nothing typed is lost', async () => {
  const page = await as('fiona', LIMIT);
  await change(page, 'lots');
  expect(await page.locator('#amount-problem').textContent()).toContain("'lots' is no amount");
  expect(await page.getByLabel('Limit', { exact: true }).inputValue()).toBe('lots');
  expect(await page.getByLabel('Why').inputValue()).toBe('Release week');
});

test('more than three times as much is saved only after a second yes', async () => {
  const page = await as('fiona', LIMIT);
  await change(page, '2000');
  await page.evaluate('document.querySelector("form.card").noValidate = true');
  await save(page);
  expect(await page.getByRole('alert').textContent()).toContain('needs to be confirmed');
  expect(await amountNow()).toBe(500);
  await page.getByLabel('Yes, that is what I mean').check();
  await save(page);
  expect(await amountNow()).toBe(2000);
});

test('who is too late sees both versions, loses nothing, and may put theirs on top', async () => {
  const page = await as('fiona', LIMIT);
  await change(page, '700');
  server.desk.overtake();
  await save(page);
  expect(await heading(page)).toBe('Changed by another user meanwhile');
  expect(await page.getByRole('region', { name: 'Yours, not saved' }).textContent()).toContain('700.00 EUR');
  expect(await page.getByRole('region', { name: 'Saved since you began' }).textContent()).toContain(
    '450.00 EUR',
  );
  expect(await amountNow()).toBe(450);
  await page.getByRole('button', { name: 'See mine on top of theirs' }).click();
  await save(page);
  expect(await amountNow()).toBe(700);
});

test('who was overtaken before the preview is told there', async () => {
  const page = await as('fiona', LIMIT);
  server.desk.overtake();
  await change(page, '700');
  expect(await heading(page)).toBe('Changed by another user meanwhile');
});

test('an owner who may not loosen is told which right it takes', async () => {
  const page = await as('olaf', LIMIT);
  await change(page, '700');
  await save(page);
  expect(await heading(page)).toBe('Not yours to change');
  expect(await page.getByRole('main').textContent()).toContain('you must be of finance or an administrator');
  expect(await amountNow()).toBe(500);
});

test('a developer is offered nothing but asking for more', async () => {
  const page = await as('dev', '/groups/101');
  const actions = await page.locator('.head .actions').textContent();
  expect(actions).toBe('Ask for more');
  expect(await page.getByRole('link', { name: /^Edit/ }).count()).toBe(0);
});

test('what a developer asks for is approved by somebody else', async () => {
  const asking = await as('dev', '/ask?subject=group/101');
  await asking.getByLabel('Increase').fill('120');
  await asking.getByLabel('Until').fill('2026-11-30');
  await asking.getByLabel('Reason').fill('Load tests');
  await asking.getByRole('button', { name: 'Send the request' }).click();
  expect(await asking.getByRole('status').textContent()).toContain('was filed');
  expect(await asking.getByRole('button', { name: /^Approve/ }).count()).toBe(0);
  const deciding = await as('fiona', '/requests');
  const card = deciding.getByRole('article').filter({ hasText: 'Load tests' });
  expect(await deciding.getByRole('button', { name: /^Approve/ }).count()).toBe(0);
  await card.getByRole('link', { name: /^Look at it/ }).click();
  expect(await deciding.getByRole('group', { name: 'Changes', exact: true }).count()).toBeGreaterThan(0);
  await deciding.getByRole('button', { name: 'Approve' }).click();
  expect(await deciding.getByRole('status').textContent()).toContain('Approved');
  expect((await server.desk.requests({ rights: [], actor: 'x' }))[0]).toMatchObject({
    state: 'approved',
    decidedBy: 'fiona',
  });
});

test('a request is approved within two clicks: from the list in two, from its link in one, with the preview before', async () => {
  for (const [way, clicks] of [
    ['list', 2],
    ['link', 1],
  ] as const) {
    const [pending] = (await server.desk.requests({ rights: [], actor: 'x' })).filter(
      ({ state }) => state === 'pending',
    );
    const page = await as('fiona', way === 'list' ? '/requests' : `/requests/${pending?.id}?link=signed`);
    let clicked = 0;
    const click = async (what: ReturnType<Page['getByRole']>): Promise<void> => {
      clicked += 1;
      await what.click();
    };
    if (way === 'list') await click(page.getByRole('link', { name: /^Look at it/ }).first());
    expect(await page.getByRole('group', { name: 'Changes', exact: true }).count()).toBeGreaterThan(0);
    await click(page.getByRole('button', { name: 'Approve' }));
    expect(await page.getByRole('status').textContent()).toContain('Approved');
    expect(clicked).toBe(clicks);
    await server.close();
    server = await startPages('full', {
      checkApproval: async () => ({ outcome: 'valid', role: 'finance' }),
    });
  }
});

test.each([
  ['the first page', '/'],
  ['the list of every limit', '/budgets'],
])(
  'from %s a limit is raised by a fifth in three clicks, after a look at what that does',
  async (_, path) => {
    const page = await as('fiona', path);
    const row = page
      .getByRole('row')
      .filter({ has: page.getByRole('link', { name: 'acme/payments', exact: true }) });
    await row.getByRole('link', { name: /, change it$/ }).click();
    await page.getByLabel('Limit', { exact: true }).fill('+20%');
    await page.getByLabel('Why').fill('Release week');
    await page.getByRole('button', { name: 'See what it does' }).click();
    expect(await page.getByRole('main').textContent()).toContain('600.00 EUR');
    await save(page);
    expect(await amountNow()).toBe(600);
  },
);

test('a closed month is found and sent within three clicks from the first page', async () => {
  const page = await as('fiona', '/');
  await page.getByRole('link', { name: 'Statements' }).click();
  await page.getByRole('link', { name: 'October 2026 of acme/payments' }).click();
  const mail = await page.getByRole('link', { name: 'Send by mail' }).getAttribute('href');
  expect(decodeURIComponent(mail ?? '')).toContain('/statements/2026-10?group=101');
});

test('nobody declines without saying why', async () => {
  const page = await as('fiona', '/requests');
  await page
    .getByRole('link', { name: /^Look at it/ })
    .first()
    .click();
  await page.getByRole('button', { name: 'Decline' }).click();
  expect(await page.getByRole('main').textContent()).toContain('you must say why');
  expect((await server.desk.requests({ rights: [], actor: 'x' }))[0]?.state).toBe('pending');
});

test('a freeze is previewed, saved and told', async () => {
  const page = await as('fiona', '/edit?kind=freeze&subject=group/101');
  await page.getByLabel('Reason').fill('Audit');
  await page.getByLabel('Why').fill('Asked for by the auditors');
  await page.getByRole('button', { name: 'See what it does' }).click();
  expect(await page.getByRole('group', { name: 'Changes', exact: true }).first().textContent()).toContain(
    'Audit',
  );
  await save(page);
  expect(await page.getByRole('status').textContent()).toContain('Saved as edit 43');
});

const FILE = 'group_path,group_id,unit,limit,period,version\r\nacme/payments,101,money,550,month,s42\r\n';

const upload = async (page: Page, text: string): Promise<void> => {
  await page
    .getByLabel('File', { exact: true })
    .setInputFiles({ name: 'limits.csv', mimeType: 'text/csv', buffer: Buffer.from(text) });
  await page.getByRole('button', { name: 'See the differences' }).click();
};

test('a file shows its differences and is saved as a whole by a second click, without being sent again', async () => {
  const page = await as('fiona', '/import');
  await upload(page, FILE);
  expect(await page.getByRole('main').textContent()).toContain('120 differences');
  await page.getByLabel('Why').fill('New quarter');
  await page.getByRole('button', { name: 'Save all of it' }).click();
  expect(await page.getByRole('status').textContent()).toContain('Saved as edit 43');
});

test('a file with a mistake changes nothing and names line and column', async () => {
  const page = await as('fiona', '/import');
  await upload(page, FILE.replace('550', '5x0'));
  const alert = await page.getByRole('alert').textContent();
  expect(alert).toContain('line 2, limit');
  expect((await server.desk.live())?.pointer.edit).toBe(42);
});

test('a file of a version that is no longer live is refused', async () => {
  server.desk.overtake();
  const page = await as('fiona', '/import');
  await upload(page, FILE);
  expect(await heading(page)).toBe('Changed by another user meanwhile');
});

test('an uploaded file is given back to nobody else', async () => {
  const page = await as('fiona', '/import');
  await upload(page, FILE);
  const kept = await page.locator('input[name=kept]').getAttribute('value');
  const response = await page.request.post(`${server.origin}/import`, {
    headers: { cookie: 'person=ada' },
    form: { csrf: 'token-of-this-session', kept: kept ?? '', step: 'preview' },
  });
  expect(response.status()).toBe(422);
  expect(await response.text()).toContain('is not there');
});

test('a job is found by its id and explained, and what names no job is told so', async () => {
  const page = await as('dev', '/jobs');
  await page.getByRole('searchbox').fill('4711');
  await page.getByRole('button', { name: 'Explain' }).click();
  expect(await page.getByRole('main').textContent()).toContain('If it came now it would be admitted');
  await page.goto(`${server.origin}/jobs?q=no-job`);
  expect(await page.getByRole('status').textContent()).toContain('is no job id');
});

test('the owner of a group is sent what would have failed', async () => {
  const page = await as('fiona', '/shadow');
  await page
    .getByRole('button', { name: /^Send to owner of / })
    .nth(1)
    .click();
  expect(await page.getByRole('status').textContent()).toContain('sent to the owner, and written down');
  expect(told).toHaveLength(1);
  expect(told[0]?.text).toContain('monthly-budget: 37 jobs');
  expect(told[0]?.text).toContain('https://budget.example.com/groups/101');
});

test('a break-glass is reviewed with a note', async () => {
  const page = await as('fiona', '/break-glass');
  await page.getByRole('link', { name: 'Review it' }).click();
  await page.getByLabel('Findings').fill('Used for the hotfix alone');
  await page.getByRole('button', { name: 'See what it does' }).click();
  await save(page);
  expect(await page.getByRole('status').textContent()).toContain('Saved as edit 43');
});

test('a name that is markup stays text', async () => {
  const page = await as('fiona', '/?q=%3Cimg%20src%3Dx%20onerror%3Dalert(1)%3E%22');
  expect(await page.locator('img').count()).toBe(0);
  expect(await page.getByLabel('Search budgets').inputValue()).toBe('<img src=x onerror=alert(1)>"');
});
