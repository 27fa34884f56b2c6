import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const read = (name: string): string =>
  readFileSync(fileURLToPath(new URL(`../../${name}`, import.meta.url)), 'utf8');

interface Locked {
  readonly name?: string;
  readonly version?: string;
  readonly resolved?: string;
  readonly integrity?: string;
  /** Comes inside another, whose content is pinned. */
  readonly inBundle?: true;
}
const packages = Object.entries(
  (JSON.parse(read('package-lock.json')) as { readonly packages: Readonly<Record<string, Locked>> }).packages,
);

test('no package is another under its name, except the empty one of this repository', () => {
  const renamed = packages.filter(
    ([path, { name }]) => name !== undefined && path !== '' && !path.endsWith(`node_modules/${name}`),
  );
  expect([...new Set(renamed.map(([, { resolved }]) => resolved))]).toEqual(['file:scripts/install/empty']);
  expect(Object.keys(JSON.parse(read('scripts/install/empty/package.json')))).not.toContain('dependencies');
});

test('every package from a registry is pinned by its content, and none by an address', () => {
  const fromRegistry = packages.filter(
    ([path, { resolved, inBundle }]) => path !== '' && resolved === undefined && inBundle !== true,
  );
  expect(fromRegistry.length).toBeGreaterThan(100);
  expect(fromRegistry.filter(([, { integrity }]) => integrity === undefined)).toEqual([]);
  expect(packages.filter(([, { resolved }]) => resolved?.startsWith('http'))).toEqual([]);
});
