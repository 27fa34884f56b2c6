import type { Browser, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { openBrowser } from './open-browser.ts';
import { openRealConsole, type RealConsole } from './real-console.ts';

let browser: Browser;
let console: RealConsole;
/** Complaints about scripts, styles and what the policy of the pages forbids; and those of the console itself. */
const complaints: string[] = [];

beforeAll(async () => {
  [browser, console] = await Promise.all([openBrowser(), openRealConsole((text) => complaints.push(text))]);
});

afterAll(async () => {
  await browser?.close();
  await console?.close();
});

afterEach(async () => {
  await Promise.all(browser.contexts().map((context) => context.close()));
  expect(complaints.splice(0)).toEqual([]);
});

type Person = 'fiona-finance' | 'olaf-owner' | 'dana-developer' | 'ada-admin' | 'sam-stranger';

/** Signs in with GitLab, and is brought to where they wanted to go. */
async function as(person: Person, path = '/'): Promise<Page> {
  const page = await (await browser.newContext()).newPage();
  page.on('console', (message) => {
    // A page that says 403, 404 or 409 is an answer.
    if (message.type() === 'error' && !/the server responded with a status of 4\d\d/.test(message.text()))
      complaints.push(message.text());
  });
  page.on('pageerror', (error) => complaints.push(error.message));
  await page.goto(console.url + path);
  await page.getByRole('link', { name: person }).click();
  await page.waitForURL(console.url + path);
  return page;
}

const edit = (group: number): string => `/edit?kind=set&subject=group/${group}&limit=money-month`;

const main = async (page: Page): Promise<string> => (await page.getByRole('main').textContent()) ?? '';
const heading = (page: Page): Promise<string | null> => page.getByRole('heading', { level: 1 }).textContent();

test.each([
  ['fiona-finance', ['acme', 'acme/payments', 'acme/platform'], []],
  ['ada-admin', ['acme', 'acme/payments', 'acme/platform'], []],
  ['olaf-owner', ['acme/payments', 'acme/payments/cards'], ['acme/platform', 'acme/data']],
  ['dana-developer', ['acme/payments', 'acme/payments/cards'], ['acme/platform', 'acme/data']],
  ['sam-stranger', [], ['acme']],
] as const)('%s signs in and sees no more than their groups', async (person, seen, hidden) => {
  const page = await as(person);
  const rows = await page.getByRole('row').allTextContents();
  const paths = rows.map((row) => row.trim());
  for (const path of seen) expect(paths.filter((row) => row.startsWith(path))).not.toEqual([]);
  for (const path of hidden) expect(paths.filter((row) => row.startsWith(path))).toEqual([]);
  const other = await page.goto(`${console.url}/groups/102`);
  // Who is in no group at all is told so at the door.
  const denied = seen.length === 0 ? 403 : 404;
  expect(other?.status()).toBe(seen.some((path) => path === 'acme/platform') ? 200 : denied);
});

test('who signed out sees nothing until they sign in again', async () => {
  const page = await as('fiona-finance');
  await page.getByRole('button', { name: 'Sign out' }).click();
  await page.waitForURL(`${console.url}/signout`);
  await page.goto(`${console.url}/groups/101`);
  expect(await heading(page)).toBe('Sign in as');
});

test('a job that was rejected is admitted once finance approved what a developer asked for', async () => {
  const budget = 3;
  for (let jobId = 1; jobId <= budget; jobId += 1) await console.ask(jobId);
  expect(await console.ask(9)).toBe('BUDGET_EXHAUSTED');

  const developer = await as('dana-developer', '/jobs/9');
  const stopped = await developer.getByRole('region', { name: 'Cause' }).textContent();
  expect(stopped).toContain('CI budget of group acme/payments has 0.90 of 2.90 EUR left');
  expect(await developer.getByRole('region', { name: 'Ways to run it' }).textContent()).toContain(
    'ask payments-leads',
  );
  // All of it is filled in; what is seen names no id and nothing that only programs read.
  expect(await developer.getByLabel('Until').inputValue()).toBe('2026-11-30');
  expect(await developer.getByRole('main').innerText()).not.toMatch(
    /d-9-1|BUDGET_|ledger|group\/|T\d\d:\d\d/,
  );
  await developer.getByLabel('Increase').fill('10');
  await developer.getByLabel('Reason').fill('Load tests');
  await developer.getByRole('button', { name: 'Send the request' }).click();
  expect(await developer.getByRole('status').textContent()).toContain('was filed');
  expect(await developer.getByRole('button', { name: /^Approve/ }).count()).toBe(0);
  expect(await console.ask(10)).toBe('BUDGET_EXHAUSTED');

  await developer.goto(`${console.url}/jobs/9`);
  const asked = developer.getByRole('region', { name: 'Asked for because of it' });
  expect(await asked.textContent()).toContain('waits for a decision');
  expect(await developer.getByRole('button', { name: 'Send the request' }).count()).toBe(0);

  const finance = await as('fiona-finance', '/requests');
  const card = finance.getByRole('article').filter({ hasText: 'Load tests' });
  await card.getByRole('link', { name: /^Look at it/ }).click();
  expect(await main(finance)).toContain('Changes');
  await finance.getByRole('button', { name: 'Approve' }).click();
  expect(await finance.getByRole('status').textContent()).toContain('Approved');
  expect(await console.ask(11)).toBe('admitted');
  await developer.reload();
  expect(await asked.textContent()).toContain('approved by fiona-finance');
  await developer.goto(`${console.url}/groups/101`);
  const grants = developer.getByRole('table').filter({ hasText: 'Load tests' });
  expect(await grants.textContent()).toContain('+10.00 EUR');
});

test('a form that another site sends, or that lacks the token of the session, changes nothing', async () => {
  const page = await as('fiona-finance', edit(100));
  const csrf = (await page.locator('input[name=csrf]').first().getAttribute('value')) ?? '';
  const base = (await page.locator('input[name=base]').first().getAttribute('value')) ?? '';
  expect(csrf).not.toBe('');
  const form = { kind: 'set', subject: 'group/100', limit: 'money-month', amount: '1', why: 'x', base };
  const send = async (origin: string, token: string): Promise<number> => {
    const headers = { origin };
    const fields = { ...form, 'was.amount': '1000', step: 'apply', csrf: token };
    return (await page.request.post(`${console.url}/edit`, { headers, form: fields })).status();
  };
  expect(await send('https://elsewhere.example.com', csrf)).toBe(403);
  expect(await send(console.url, '')).toBe(403);
  expect(await console.amountOf('group/100')).toBe(1000);
});
