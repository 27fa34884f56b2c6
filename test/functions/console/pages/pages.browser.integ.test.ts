import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openBrowser } from './open-browser.ts';
import { type PagesServer, type Person, startPages } from './pages-server.ts';

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const PAGE_BYTES_MAX = 100 * 1024;

let browser: Browser;
let full: PagesServer;
let empty: PagesServer;

beforeAll(async () => {
  [browser, full, empty] = await Promise.all([openBrowser(), startPages('full'), startPages('empty')]);
});

afterAll(async () => {
  await Promise.all([browser?.close(), full?.close(), empty?.close()]);
});

interface Visit {
  readonly page: Page;
  /** What the browser complained about: scripts, styles and whatever the policy of the page forbids. */
  readonly complaints: readonly string[];
  close(): Promise<void>;
}

const WIDE = { width: 1280, height: 900 };
const NARROW = { width: 360, height: 740 };

async function visit(server: PagesServer, person: Person = 'fiona', more: object = {}): Promise<Visit> {
  const context = await browser.newContext({ viewport: WIDE, ...more });
  await context.addCookies([{ name: 'person', value: person, url: server.origin }]);
  const page = await context.newPage();
  const complaints: string[] = [];
  page.on('console', (message) => {
    // A page that says 404, 409 or 422 is an answer.
    if (message.type() === 'error' && !/the server responded with a status of 4\d\d/.test(message.text()))
      complaints.push(message.text());
  });
  page.on('pageerror', (error) => complaints.push(error.message));
  return { page, complaints, close: () => context.close() };
}

const PLACES: readonly (readonly [string, string, Person?])[] = [
  ['the overview', '/'],
  ['a step of the tree', '/?under=101'],
  ['a search without a result', '/?q=nothing-like-it'],
  ['every limit', '/budgets'],
  ['a search of limits without a result', '/budgets?q=nothing-like-it'],
  ['a group', '/groups/101'],
  ['a frozen group', '/groups/102'],
  ['a project', '/projects/900'],
  ['the instance', '/instance'],
  ['a limit to edit', '/edit?kind=set&subject=group/101&limit=money-month'],
  ['a new limit', '/edit?kind=set&subject=group/101'],
  ['a grant', '/edit?kind=grant&subject=group/101'],
  ['a freeze', '/edit?kind=freeze&subject=group/101'],
  ['a break-glass', '/edit?kind=breakglass&subject=group/101'],
  ['a rollout', '/edit?kind=rollout&subject=group/101'],
  ['the search of a job', '/jobs'],
  ['a job', '/jobs/4711'],
  ['a rejected job and what would help it', '/jobs/4713'],
  ['a rejected job that was retried', '/jobs/4715'],
  ['a rejected job that is to be retried', '/jobs/4717'],
  ['the shadow report', '/shadow'],
  ['coverage', '/coverage'],
  ['a report', '/reports'],
  ['a report by day', '/reports?by=day&period=last-quarter'],
  ['a report by hour', '/reports?by=hour'],
  ['a report that cannot be', '/reports?from=2026-11-02&to=2026-11-01'],
  ['the rollout', '/rollout'],
  ['the step of a group', '/rollout/step?subject=group/101', 'ada'],
  ['the requests', '/requests'],
  ['a request to decide', '/requests/r1'],
  ['asking for more', '/ask?subject=group/101', 'dev'],
  ['asking for which group', '/ask', 'dev'],
  ['closed months', '/statements'],
  ['a closed month', '/statements/2026-09?group=101'],
  ['the break-glass list', '/break-glass'],
  ['the file', '/import'],
  ['going anywhere', '/go', 'dev'],
  ['the history', '/history'],
  ['an edit', '/history/42'],
  ['who I am', '/me', 'olaf'],
  ['who I am without rights', '/me', 'nobody'],
  ['a refusal', '/import', 'dev'],
  ['what is not there', '/groups/999', 'dev'],
];

const EMPTY_PLACES = [
  '/',
  '/budgets',
  '/groups/300',
  '/shadow',
  '/rollout',
  '/coverage',
  '/reports',
  '/requests',
  '/statements',
  '/break-glass',
  '/history',
].map((path) => [`${path} without anything in it`, path, 'fiona', 'empty'] as const);

const ALL = [
  ...PLACES.map(([name, path, person]) => [name, path, person ?? ('fiona' as const), 'full'] as const),
  ...EMPTY_PLACES,
];

test.each(ALL)(
  '%s can be read by everybody: nothing of axe above minor, light and dark',
  async (_name, path, person, amount) => {
    const server = amount === 'full' ? full : empty;
    const { page, complaints, close } = await visit(server, person);
    await page.goto(server.origin + path);
    expect(await findingsOfAxe(page)).toEqual([]);
    await page.emulateMedia({ colorScheme: 'dark' });
    expect(await findingsOfAxe(page)).toEqual([]);
    expect(complaints).toEqual([]);
    await close();
  },
);

test.each(ALL)('%s is at most 100 KB and fits a narrow screen', async (_name, path, person, amount) => {
  const server = amount === 'full' ? full : empty;
  const { page, complaints, close } = await visit(server, person, { viewport: NARROW });
  const response = await page.goto(server.origin + path);
  expect((await response?.body())?.length).toBeLessThanOrEqual(PAGE_BYTES_MAX);
  expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(NARROW.width);
  expect(complaints).toEqual([]);
  await close();
});

/** Header, filters and the key come before the first group. */
const TABS_MAX = 30;

test('the check of axe finds what is wrong', async () => {
  const { page, close } = await visit(full);
  await page.goto(full.origin);
  await page.evaluate('document.querySelector("main").append(document.createElement("img"))');
  expect(await findingsOfAxe(page)).toEqual(['image-alt: <img>']);
  await close();
});

async function findingsOfAxe(page: Page): Promise<string[]> {
  // As a debugger's expression, which the policy of the page does not forbid.
  await page.evaluate(AXE);
  const findings = await page.evaluate<{ id: string; impact: string; nodes: { html: string }[] }[]>(
    'axe.run(document, { resultTypes: ["violations"] }).then(({ violations }) => violations)',
  );
  return findings
    .filter(({ impact }) => impact !== 'minor')
    .map(({ id, nodes }) => `${id}: ${nodes[0]?.html}`);
}

test('Ctrl-K leads by keyboard alone to a page, a job or the search, and Escape back', async () => {
  const { page, complaints, close } = await visit(full);
  const go = async (word: string): Promise<string> => {
    await page.goto(`${full.origin}/coverage`);
    await page.keyboard.press('Control+k');
    await page.keyboard.type(word);
    await Promise.all([page.waitForNavigation(), page.keyboard.press('Enter')]);
    return page.url().slice(full.origin.length);
  };
  expect(await go('stat')).toBe('/statements');
  expect(await go('4711')).toBe('/jobs/4711');
  expect(await go('pay')).toBe('/?q=pay');
  await page.keyboard.press('Control+k');
  expect(await page.getByRole('dialog').count()).toBe(1);
  expect(await findingsOfAxe(page)).toEqual([]);
  await page.keyboard.press('Escape');
  expect(await page.getByRole('dialog').count()).toBe(0);
  expect(complaints).toEqual([]);
  await close();
});

test('without script every page that can be read is read, searched and paged through', async () => {
  const { page, close } = await visit(full, 'fiona', { javaScriptEnabled: false });
  await page.goto(full.origin);
  await page.getByRole('link', { name: 'Next' }).click();
  expect(await page.getByRole('navigation', { name: 'Pages' }).textContent()).toContain('51–100 of 10,000');
  await page.getByLabel('Search budgets').fill('team-4321');
  await page.getByRole('button', { name: 'Show' }).click();
  await page.getByRole('link', { name: 'team-4321' }).click();
  expect(await page.getByRole('heading', { level: 1 }).textContent()).toContain('team-4321');
  await page.getByText('The figures as a table').click();
  expect(await page.getByRole('group', { name: 'Use per day' }).isVisible()).toBe(true);
  await close();
});

test('with the keyboard alone a group is found, and what has the focus can be seen', async () => {
  const { page, close } = await visit(full);
  await page.goto(full.origin);
  await page.keyboard.press('Tab');
  expect(await page.evaluate('document.activeElement.textContent')).toBe('To the content');
  await page.keyboard.press('/');
  await page.keyboard.type('payments');
  await page.keyboard.press('Enter');
  await page.waitForURL(/q=payments/);
  for (let tabs = 0; tabs < TABS_MAX; tabs += 1) {
    if (await page.evaluate<boolean>('document.activeElement.getAttribute("href") === "/groups/101"')) break;
    await page.keyboard.press('Tab');
  }
  expect(await page.evaluate('getComputedStyle(document.activeElement).outlineStyle')).toBe('solid');
  await page.keyboard.press('Enter');
  await page.waitForURL(/\/groups\/101/);
  await close();
});

test('style and script come from here with a name of their content and are kept for a year', async () => {
  const { page, close } = await visit(full);
  const answers: string[] = [];
  page.on('response', (response) => {
    if (response.url().includes('/assets/'))
      answers.push(`${response.status()} ${response.headers()['cache-control']}`);
  });
  await page.goto(full.origin);
  expect(answers).toEqual(Array(2).fill('200 public, max-age=31536000, immutable'));
  await close();
});
