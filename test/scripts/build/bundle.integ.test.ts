import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { BUNDLE_KB_MAX, bundleEntry, bundleFunction, FUNCTIONS } from '../../../scripts/build/bundle.ts';

/** Eleven builds, some with a hundred packages. */
const BUILD_MS_MAX = 120_000;
/** A bound that is far away bounds nothing. */
const ROOM = 1.12;

const folder = mkdtempSync(join(tmpdir(), 'tollgate-sizes-'));
const sizes = new Map<string, number>();
beforeAll(async () => {
  for (const name of FUNCTIONS) {
    const { bytes } = await bundleFunction(name, join(folder, name.replace('/', '-'), 'handler.mjs'));
    sizes.set(name, bytes / 1024);
  }
}, BUILD_MS_MAX);
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test.each(FUNCTIONS)('%s stays within its size, and its bound close to it', (name) => {
  const kb = sizes.get(name) ?? Number.NaN;
  expect(kb).toBeLessThanOrEqual(BUNDLE_KB_MAX[name]);
  expect(kb * ROOM).toBeGreaterThan(BUNDLE_KB_MAX[name]);
});

test('the console speaks one language', () => {
  const built = join(folder, 'console');
  const code = readdirSync(built).map((file) => readFileSync(join(built, file), 'utf8'));
  expect(code.join('')).toContain('Invalid input: expected');
  // Zod's message in German.
  expect(code.join('')).not.toContain('Ungültige Eingabe');
});

test('what stays out of Zod is not missed: the bundled API describes itself and reads edits', async () => {
  const file = join(folder, 'api.mjs');
  const api = './functions/console/api';
  const contents = `export { createApi } from '${api}/create-api.ts'; export { EditsSchema } from '${api}/edits.ts';`;
  await bundleEntry({ contents, resolveDir: fileURLToPath(new URL('../../..', import.meta.url)) }, file);
  const { createApi, EditsSchema } = (await import(
    file
  )) as typeof import('../../../functions/console/api/create-api.ts') &
    typeof import('../../../functions/console/api/edits.ts');
  const info = { title: 'Tollgate', version: '1' };
  const document = createApi({} as Parameters<typeof createApi>[0]).getOpenAPI31Document({
    openapi: '3.1.0',
    info,
  });
  expect(document.components?.schemas).toHaveProperty('Limit.properties.percent.type', 'integer');
  const edits = [{ kind: 'unfreeze', freeze: 'a' }];
  expect(EditsSchema.parse({ edits, why: 'done' })).toEqual({ edits, why: 'done' });
  expect(EditsSchema.safeParse({ edits: [{ kind: 'unfreeze' }], why: '' }).error?.issues).toHaveLength(2);
});
