/**
 * Takes the pictures of the pages that documents show, from the pages that tests look at: `npm run pictures`, or
 * `npm run pictures -- group` for one of them.
 */
import '../../../../scripts/local/jsx.ts';
import { fileURLToPath } from 'node:url';
import type { Page } from 'playwright-core';
import { openBrowser } from './open-browser.ts';
import type { PagesServer } from './pages-server.ts';

// Pages have JSX: Node can read it from here on.
const { startPages } = await import('./pages-server.ts');

const FOLDER = fileURLToPath(new URL('../../../../functions/console/pages/screenshots/', import.meta.url));

interface PictureSetting {
  readonly path: string;
  readonly width?: number;
  readonly height: number;
  readonly dark?: boolean;
  /** Steps of the user before the picture. */
  readonly until?: (page: Page, server: PagesServer) => Promise<void>;
}

const LIMIT = '/edit?kind=set&subject=group/101&limit=money-month';

const edit = async (page: Page): Promise<void> => {
  await page.getByLabel('Limit', { exact: true }).fill('700');
  await page.getByLabel('Why').fill('Release week');
  await page.getByRole('button', { name: 'See what it does' }).click();
};

const PICTURES: Readonly<Record<string, PictureSetting>> = {
  overview: { path: '/', height: 860 },
  limits: { path: '/budgets', height: 760 },
  group: { path: '/groups/101', height: 1010 },
  'group-narrow-dark': { path: '/groups/101', width: 390, height: 1010, dark: true },
  job: { path: '/jobs/4713', height: 760 },
  'edit-preview': { path: LIMIT, height: 860, until: edit },
  'stale-edit-dark': {
    path: LIMIT,
    height: 460,
    dark: true,
    until: async (page, server) => {
      await edit(page);
      server.desk.overtake();
      await page.getByRole('button', { name: 'Save' }).click();
    },
  },
};

async function main(names: readonly string[]): Promise<void> {
  const browser = await openBrowser();
  try {
    for (const [name, { path, width = 1280, height, dark = false, until }] of Object.entries(PICTURES)) {
      if (names.length > 0 && !names.includes(name)) continue;
      const server = await startPages('full');
      try {
        const colorScheme = dark ? 'dark' : 'light';
        const page = await browser.newPage({ viewport: { width, height }, colorScheme });
        await page.goto(server.origin + path);
        await until?.(page, server);
        await page.screenshot({ path: `${FOLDER}${name}.png` });
        process.stdout.write(`${name}.png\n`);
      } finally {
        await server.close();
      }
    }
  } finally {
    await browser.close();
  }
}

await main(process.argv.slice(2));
