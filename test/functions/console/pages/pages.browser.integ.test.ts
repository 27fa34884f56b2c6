import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { sampleWorld, serveWorld } from '../sample-world.ts';
import { sessionOf, type Who } from '../signed-in.ts';
import { crawled, FIRST, shapeOf } from './crawl.ts';
import { openBrowser } from './open-browser.ts';
import { openRealConsole, type RealConsole } from './real-console.ts';

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const WIDE = { width: 1280, height: 900 };
const NARROW = { width: 360, height: 740 };
const LIMIT = '/edit?kind=set&subject=group/101&limit=money-month';

let browser: Browser;
let full: Awaited<ReturnType<typeof serveWorld>>;
let empty: Awaited<ReturnType<typeof serveWorld>>;
let real: RealConsole;
/** What the browser complained about: scripts, styles and whatever the policy of the page forbids. */
const complaints: string[] = [];

beforeAll(async () => {
  const serve = async (isEmpty: boolean) => serveWorld(await sampleWorld(isEmpty));
  [browser, full, empty, real] = await Promise.all([
    openBrowser(),
    serve(false),
    serve(true),
    openRealConsole((text) => complaints.push(text)),
  ]);
});

afterEach(async () => {
  await Promise.all(browser.contexts().map((context) => context.close()));
  expect(complaints.splice(0)).toEqual([]);
});

afterAll(async () => {
  await Promise.all([browser, full, empty, real].map((each) => each?.close()));
});

async function as(
  who: Who,
  { origin }: { readonly origin: string } = full,
  more: object = {},
): Promise<Page> {
  const context = await browser.newContext({ viewport: WIDE, ...more });
  await context.addCookies([{ name: 'tollgate-session', value: sessionOf(who), url: origin }]);
  return watched(context);
}

/** Signs in with GitLab, and is brought to where they wanted to go. */
async function signedIn(person: string, path = '/'): Promise<Page> {
  const page = await watched(await browser.newContext());
  await page.goto(real.url + path);
  await page.getByRole('link', { name: person }).click();
  await page.waitForURL(real.url + path);
  return page;
}

async function watched(context: BrowserContext): Promise<Page> {
  const page = await context.newPage();
  page.on('console', (message) => {
    // A page that says 404, 409 or 422 is an answer.
    if (message.type() === 'error' && !/the server responded with a status of 4\d\d/.test(message.text()))
      complaints.push(message.text());
  });
  page.on('pageerror', (error) => complaints.push(error.message));
  return page;
}

async function findingsOfAxe(page: Page, rules?: readonly string[]): Promise<string[]> {
  // As a debugger's expression, which the policy of the page does not forbid.
  await page.evaluate(AXE);
  const options = JSON.stringify({ resultTypes: ['violations'], ...(rules && { runOnly: rules }) });
  const findings = await page.evaluate<{ id: string; impact: string; nodes: { html: string }[] }[]>(
    `axe.run(document, ${options}).then(({ violations }) => violations)`,
  );
  return findings
    .filter(({ impact }) => impact !== 'minor')
    .map(({ id, nodes }) => `${id}: ${nodes[0]?.html}`);
}

test.each([
  ['finance', 'full'],
  ['none', 'full'],
  ['finance', 'empty'],
] as const)(
  'each kind of page that %s opens, %s, has nothing of axe above minor, light and dark, and fits a narrow screen',
  async (who, amount) => {
    const server = amount === 'full' ? full : empty;
    const found = await crawled((path) => server.send(who, path), FIRST, 1);
    const pages = found.filter(({ type, to }) => type.startsWith('text/html') && to === null);
    const kinds = new Map(
      pages.map(({ path }) => [shapeOf(path).replace(/\?$|[?&](cursor|limit|mine|q)\b/g, ''), path]),
    );
    const page = await as(who, server);
    const wrong: string[] = [];
    for (const path of kinds.values()) {
      await page.setViewportSize(WIDE);
      await page.emulateMedia({ colorScheme: 'light' });
      await page.goto(server.origin + path);
      const light = await findingsOfAxe(page);
      await page.emulateMedia({ colorScheme: 'dark' });
      // The colours alone differ, and empty pages have no others.
      const dark = amount === 'full' ? await findingsOfAxe(page, ['color-contrast']) : [];
      await page.setViewportSize(NARROW);
      const width = await page.evaluate<number>('document.documentElement.scrollWidth');
      wrong.push(...[...light, ...dark].map((finding) => `${path}: ${finding}`));
      if (width > NARROW.width) wrong.push(`${path}: ${width} pixels wide`);
    }
    expect(wrong).toEqual([]);
    expect(kinds.size).toBeGreaterThan(who === 'none' ? 4 : 15);
  },
);

test('Ctrl-K leads by keyboard alone to a page, a job or the search, and Escape back', async () => {
  const page = await as('finance');
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
});

test('with the keyboard alone a group is found, and what has the focus can be seen', async () => {
  const page = await as('finance');
  await page.goto(full.origin);
  await page.keyboard.press('Tab');
  expect(await page.evaluate('document.activeElement.textContent')).toBe('To the content');
  await page.keyboard.press('/');
  await page.keyboard.type('payments');
  await page.keyboard.press('Enter');
  await page.waitForURL(/q=payments/);
  // Header, filters and the key come before the first group.
  for (let tabs = 0; tabs < 30; tabs += 1) {
    if (await page.evaluate<boolean>('document.activeElement.getAttribute("href") === "/groups/101"')) break;
    await page.keyboard.press('Tab');
  }
  expect(await page.evaluate('getComputedStyle(document.activeElement).outlineStyle')).toBe('solid');
  await page.keyboard.press('Enter');
  await page.waitForURL(/\/groups\/101/);
});

/** Opens the form of a limit and asks what a change would do. */
async function previewed(page: Page, amount: string): Promise<void> {
  await page.goto(full.origin + LIMIT);
  await page.getByLabel('Limit', { exact: true }).fill(amount);
  await page.getByLabel('Reason for the change').fill('Release week');
  await page.getByRole('button', { name: 'Preview changes' }).click();
}

test('without script pages are searched, and a button counts the jobs of an edit; nothing typed is lost', async () => {
  const page = await as('admin', full, { javaScriptEnabled: false });
  await page.goto(full.origin);
  await page.getByLabel('Search budgets').fill('payments');
  await page.getByRole('button', { name: 'Show groups' }).click();
  await page.getByRole('link', { name: 'acme/payments', exact: true }).click();
  await page.getByText('Figures of the chart').click();
  expect(await page.getByRole('group', { name: 'Use per day' }).isVisible()).toBe(true);
  await previewed(page, '6');
  const section = page.locator('#exact');
  expect(await section.textContent()).not.toContain('would have failed;');
  await section.getByRole('button', { name: 'Count jobs' }).click();
  expect(await section.textContent()).toMatch(/of [\d,]+ jobs would have failed;/);
  // The page is still the one that saves.
  await page.getByRole('button', { name: 'Save' }).click();
  expect(await page.getByRole('status').textContent()).toContain('Saved as edit');
});

test('with script the jobs are counted without a click, and on a telephone all of it fits', async () => {
  const page = await as('admin', full, { viewport: NARROW });
  await previewed(page, '5');
  await page
    .locator('#exact [aria-live=polite]')
    .getByText(/jobs would have failed;/)
    .waitFor();
  await page.locator('#exact:not([aria-busy])').waitFor();
  expect(await page.locator('#exact button').count()).toBe(0);
  for (const part of await page.locator('.scroll').all())
    expect(await part.evaluate(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth)).toBe(0);
});

test('who signed out sees nothing until they sign in again', async () => {
  const page = await signedIn('fiona-finance');
  await page.getByRole('button', { name: 'Sign out' }).click();
  await page.waitForURL(`${real.url}/signout`);
  await page.goto(`${real.url}/groups/101`);
  expect(await page.getByRole('heading', { level: 1 }).textContent()).toBe('Sign in as');
});

test('a job that was rejected is admitted once finance approved what a developer asked for', async () => {
  const budget = 3;
  for (let jobId = 1; jobId <= budget; jobId += 1) await real.ask(jobId);
  expect(await real.ask(9)).toBe('BUDGET_EXHAUSTED');

  const developer = await signedIn('dana-developer', '/jobs/9');
  const stopped = await developer.getByRole('region', { name: 'Cause' }).textContent();
  expect(stopped).toContain('CI budget of group acme/payments is used up: 3.00 of 3.00 EUR');
  expect(await developer.getByRole('region', { name: 'Options' }).textContent()).toContain(
    'ask payments-leads',
  );
  // All of it is filled in; what is seen names no id and nothing that only programs read.
  expect(await developer.getByLabel('Until').inputValue()).toBe('2026-11-30');
  expect(await developer.getByRole('main').innerText()).not.toMatch(
    /d-9-1|BUDGET_|ledger|group\/|T\d\d:\d\d/,
  );
  await developer.getByLabel('Increase').fill('10');
  await developer.getByLabel('Reason').fill('Load tests');
  await developer.getByRole('button', { name: 'Send request' }).click();
  expect(await developer.getByRole('status').textContent()).toContain('was filed');
  expect(await developer.getByRole('button', { name: /^Approve/ }).count()).toBe(0);
  expect(await real.ask(10)).toBe('BUDGET_EXHAUSTED');

  await developer.goto(`${real.url}/jobs/9`);
  const asked = developer.getByRole('region', { name: 'Requests for this job' });
  expect(await asked.textContent()).toContain('waits for a decision');
  expect(await developer.getByRole('button', { name: 'Send request' }).count()).toBe(0);

  const finance = await signedIn('fiona-finance', '/requests');
  const card = finance.getByRole('region').filter({ hasText: 'Load tests' });
  await card.getByRole('link', { name: /^Review request/ }).click();
  expect(await finance.getByRole('main').textContent()).toContain('Changes');
  await finance.getByRole('button', { name: 'Approve' }).click();
  expect(await finance.getByRole('status').textContent()).toContain('Approved');
  expect(await real.ask(11)).toBe('admitted');
  await developer.reload();
  expect(await asked.textContent()).toContain('approved by fiona-finance');
  await developer.goto(`${real.url}/groups/101`);
  const grants = developer.getByRole('table').filter({ hasText: 'Load tests' });
  expect(await grants.textContent()).toContain('+10.00 EUR');
});
