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

type World = Awaited<ReturnType<typeof sampleWorld>>;

const FOLDER = fileURLToPath(new URL('../../../../functions/console/pages/screenshots/', import.meta.url));
const LIMIT = '/edit?kind=set&subject=group/101&limit=money-month';

const edit = async (page: Page): Promise<void> => {
  await page.getByLabel('Limit', { exact: true }).fill('9');
  await page.getByLabel('Why').fill('Release week');
  await page.getByRole('button', { name: 'See what it does' }).click();
};

interface PictureSetting {
  readonly path: string;
  readonly width?: number;
  readonly height: number;
  readonly dark?: boolean;
  /** Steps of the user before the picture. */
  readonly until?: (page: Page, world: World) => Promise<void>;
}

const PICTURES: Readonly<Record<string, PictureSetting>> = {
  overview: { path: '/', height: 860 },
  limits: { path: '/budgets', height: 760 },
  group: { path: '/groups/101', height: 1010 },
  'group-narrow-dark': { path: '/groups/101', width: 390, height: 1010, dark: true },
  // The last rejected job of the group.
  job: {
    path: '/groups/101',
    height: 760,
    until: (page) => page.locator('#rejected ~ .scroll a').first().click(),
  },
  'edit-preview': { path: LIMIT, height: 860, until: edit },
  'stale-edit-dark': {
    path: LIMIT,
    height: 460,
    dark: true,
    until: async (page, { apply }) => {
      await edit(page);
      await apply([{ kind: 'set', subject: 'group/101', limit: 'money-month', amount: 7 }]);
      await page.getByRole('button', { name: 'Save' }).click();
    },
  },
};

const names = process.argv.slice(2);
const browser = await openBrowser();
for (const [name, { path, width = 1280, height, dark, until }] of Object.entries(PICTURES)) {
  if (names.length > 0 && !names.includes(name)) continue;
  const world = await sampleWorld();
  const { origin, close } = await serveWorld(world);
  const context = await browser.newContext({
    viewport: { width, height },
    colorScheme: dark ? 'dark' : 'light',
  });
  await context.addCookies([{ name: 'tollgate-session', value: sessionOf('finance'), url: origin }]);
  const page = await context.newPage();
  await page.goto(origin + path);
  await until?.(page, world);
  await page.screenshot({ path: `${FOLDER}${name}.png` });
  process.stdout.write(`${name}.png\n`);
  await close();
}
await browser.close();
