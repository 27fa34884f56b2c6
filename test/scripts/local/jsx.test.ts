import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { afterAll, expect, test } from 'vitest';

const cache = fileURLToPath(new URL('../../../node_modules/.cache/', import.meta.url));
mkdirSync(cache, { recursive: true });
const folder = mkdtempSync(join(cache, 'jsx-'));
/** Unique, so that no other run looks at what is kept of it. */
const NAME = `${basename(folder)}.tsx`;
const KEPT = join(cache, 'jsx', `${NAME}.js`);

afterAll(() => {
  rmSync(folder, { recursive: true });
  rmSync(KEPT, { force: true });
});

async function shown(place: string, source: string): Promise<string> {
  const file = join(folder, place, NAME);
  mkdirSync(join(folder, place));
  writeFileSync(file, source);
  const { page } = (await import(pathToFileURL(file).href)) as { page: (text: string) => unknown };
  return String(page('a & b'));
}

test('JSX and types are compiled when a module is loaded, and what stands in a page is escaped', async () => {
  const source = 'export const page = (text: string) => <p class="soft">{text}</p>;';
  expect(await shown('one', source)).toBe('<p class="soft">a &amp; b</p>');
});

test('what was kept of another source by the same name is not taken for it', async () => {
  expect(await shown('two', 'export const page = () => <p>second</p>;')).toBe('<p>second</p>');
  expect(await shown('three', 'export const page = () => <p>third</p>;')).toBe('<p>third</p>');
});

test('the same source again comes from what was kept', async () => {
  const source = "export const page = () => <b>{'compiled'}</b>;";
  expect(await shown('four', source)).toBe('<b>compiled</b>');
  writeFileSync(KEPT, readFileSync(KEPT, 'utf8').replace('"compiled"', '"kept"'));
  expect(await shown('five', source)).toBe('<b>kept</b>');
});
