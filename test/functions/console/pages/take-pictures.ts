/**
 * Takes the pictures of the pages that documents show, from the sample that tests look at: `npm run pictures`, or
 * `npm run pictures -- group` for one of them.
 */
import '../../../../scripts/local/jsx.ts';
import { fileURLToPath } from 'node:url';
import type { Page } from 'playwright-core';
import { openBrowser } from './open-browser.ts';

// Pages have JSX: Node can read it from here on.
const { sampleWorld, serveWorld } = await import('../sample-world.ts');
const { sessionOf } = await import('../signed-in.ts');

const FOLDER = fileURLToPath(new URL('../../../../functions/console/pages/screenshots/', import.meta.url));
const LIMIT = '/edit?kind=set&subject=group/101&limit=money-month';

const edit = async (page: Page): Promise<void> => {
  await page.getByLabel('Limit', { exact: true }).fill('9');
  await page.getByLabel('Reason for the change').fill('Release week');
  await page.getByRole('button', { name: 'Preview changes' }).click();
};

interface PictureSetting {
  readonly path: string;
  readonly height: number;
  /** Steps of the user before the picture. */
  readonly until?: (page: Page) => Promise<void>;
}

const PICTURES: Readonly<Record<string, PictureSetting>> = {
  overview: { path: '/', height: 860 },
  limits: { path: '/budgets', height: 760 },
  group: { path: '/groups/101', height: 1010 },
  'edit-preview': { path: LIMIT, height: 860, until: edit },
};

const names = process.argv.slice(2);
const browser = await openBrowser();
for (const [name, { path, height, until }] of Object.entries(PICTURES)) {
  if (names.length > 0 && !names.includes(name)) continue;
  const { origin, close } = await serveWorld(await sampleWorld());
  const context = await browser.newContext({ viewport: { width: 1280, height } });
  await context.addCookies([{ name: 'tollgate-session', value: sessionOf('finance'), url: origin }]);
  const page = await context.newPage();
  await page.goto(origin + path);
  await until?.(page);
  await page.screenshot({ path: `${FOLDER}${name}.png` });
  process.stdout.write(`${name}.png\n`);
  await close();
}
await browser.close();
