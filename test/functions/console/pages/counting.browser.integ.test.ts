import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openBrowser } from './open-browser.ts';
import { type PagesServer, startPages } from './pages-server.ts';

let browser: Browser;
let server: PagesServer;

beforeAll(async () => {
  browser = await openBrowser();
  server = await startPages('full');
});

afterAll(async () => {
  await server?.close();
  await browser?.close();
});

async function previewed(options: { readonly javaScriptEnabled: boolean }): Promise<Page> {
  const context = await browser.newContext(options);
  await context.addCookies([{ name: 'person', value: 'fiona', url: server.origin }]);
  const page = await context.newPage();
  await page.goto(`${server.origin}/edit?kind=set&subject=group/101&limit=money-month`);
  await page.getByLabel('Limit', { exact: true }).fill('700');
  await page.getByLabel('Why').fill('Release week');
  await page.getByRole('button', { name: 'See what it does' }).click();
  return page;
}

const COUNTED = '41 of 12,030 jobs would have failed; 3 with the limits as they are, 2 did.';

test('without script a button counts the jobs, on the same page, and nothing typed is lost', async () => {
  const page = await previewed({ javaScriptEnabled: false });
  const section = page.locator('#exact');
  expect(await section.textContent()).not.toContain('12,030');
  await section.getByRole('button', { name: 'Count exactly' }).click();
  expect(await section.textContent()).toContain(`9 of 30 days counted, from 23 Oct on: ${COUNTED}`);
  await section.getByRole('button', { name: 'Count the rest' }).click();
  const text = await section.textContent();
  expect(text).toContain(`The last 30 days, from 23 Oct on: ${COUNTED}`);
  expect(text).toContain('Read 31,000 records.');
  // The page is still the one that saves.
  await page.getByRole('button', { name: 'Save' }).click();
  expect(await page.getByRole('status').textContent()).toContain('Saved as edit');
});

test('with script they are counted to the last day without a click, and read out when they are there', async () => {
  const page = await previewed({ javaScriptEnabled: true });
  const live = page.locator('#exact [aria-live=polite]');
  await live.getByText(`The last 30 days, from 23 Oct on: ${COUNTED}`).waitFor();
  await page.locator('#exact:not([aria-busy])').waitFor();
  expect(await page.locator('#exact button').count()).toBe(0);
});
