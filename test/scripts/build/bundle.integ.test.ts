import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { BUNDLE_KB_MAX, bundleFunction, FUNCTIONS } from '../../../scripts/build/bundle.ts';

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
