/** Who may import whom: `policies ← core ← answers ← programs`, everything else around them (docs/DESIGN.md). */
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const root = fileURLToPath(new URL('..', import.meta.url));
const FLOOR = ['policies/', 'functions/names.ts'];
const SHARED = [...FLOOR, 'functions/core/', 'functions/answers/'];
/** What each folder may import besides itself. The last prefix counts; a program is a folder of `functions/` that has no line here. */
const MAY_IMPORT: Readonly<Record<string, readonly string[]>> = {
  'policies/': [],
  'functions/': SHARED,
  'functions/core/': FLOOR,
  'functions/answers/': [...FLOOR, 'functions/core/'],
  'relay/': [...FLOOR, 'functions/core/contract/'],
  'cdk/': [...FLOOR, 'relay/names.ts', 'relay/wire/deployable-descriptors.ts', 'scripts/build/pack-rules.ts'],
  'scripts/': [...SHARED, 'relay/', 'cdk/', 'test/cdk/'],
  // The command line is a client of the API. What runs, plays and measures programs may know them.
  'scripts/cli/api/': [...SHARED, 'scripts/', 'functions/console/api/'],
  'scripts/local/': [''],
  'scripts/proof/': [''],
  // The rulebook judges the product: it is written from the documents and imports nothing of the product.
  'test/simulation/rulebook/': [],
  // An auditor who shared code with the ledger or with prices would repeat their mistakes.
  'scripts/cli/audit/recompute/': [],
};
const CLIENT = /^scripts\/cli\/(audit|budget|statement)\//; // Knows the API, and no area of the core.
/** Packages that one folder of what is deployed knows. */
const ONLY_IN: Readonly<Record<string, string>> = {
  '@aws-sdk/client-dynamodb': 'functions/core/store/',
  '@grpc/grpc-js': 'relay/router/',
  ws: 'relay/router/',
  re2js: 'policies/match/',
};
const files = ['policies', 'functions', 'relay', 'cdk', 'scripts', 'test/simulation/rulebook'].flatMap(
  (folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
      .filter((name) => /\.tsx?$/.test(name))
      .map((name) => `${folder}/${name}`),
);
const deployed = files.filter((file) => !/^(scripts|test)\//.test(file));
const textOf = (file: string): string => readFileSync(join(root, file), 'utf8');
const importsOf = (file: string): readonly string[] =>
  [...textOf(file).matchAll(/(?:\bfrom|^import|\bimport\()\s*'([^']+)'/gm)].map(([, target = '']) =>
    target.startsWith('.') ? relative(root, join(root, dirname(file), target)) : target,
  );
const isOurs = (target: string): boolean => /^(policies|functions|relay|cdk|scripts|test)\//.test(target);
function mayImport(file: string, target: string): boolean {
  const place = Object.keys(MAY_IMPORT).findLast((prefix) => file.startsWith(prefix)) ?? '';
  const own = place === 'functions/' ? file.split('/').slice(0, 2).join('/') : place;
  if (CLIENT.test(file) && target.startsWith('functions/core/')) return false;
  return target.startsWith(own) || (MAY_IMPORT[place] ?? []).some((allowed) => target.startsWith(allowed));
}
test.each(files)('%s imports only what its place allows', (file) => {
  const isAllowed = (target: string): boolean =>
    isOurs(target)
      ? mayImport(file, target)
      : !deployed.includes(file) || file.startsWith(ONLY_IN[target] ?? '');
  expect(importsOf(file).filter((target) => !isAllowed(target))).toEqual([]);
});
test('no file of what is deployed needs itself by way of others', () => {
  const done = new Set<string>();
  const visit = (file: string, way: readonly string[]): readonly string[] => {
    if (way.includes(file)) return [[...way.slice(way.indexOf(file)), file].join(' → ')];
    if (done.has(file)) return [];
    done.add(file);
    return importsOf(file)
      .filter((target) => deployed.includes(target))
      .flatMap((target) => visit(target, [...way, file]));
  };
  expect(deployed.flatMap((file) => visit(file, []))).toEqual([]);
});
test('policies are pure, and programs read the environment where they start', () => {
  const IMPURE = /\bDate\.now\(|new Date\(\)|Math\.random\(|\bprocess\.|\bfetch\(|setTimeout\(/;
  const strays = deployed.filter((file) =>
    file.startsWith('policies/') ? IMPURE.test(textOf(file)) : textOf(file).includes('process.env'),
  );
  expect(strays.filter((file) => !/\/(handler|main)\.ts$|^cdk\/app\.ts$/.test(file))).toEqual([]);
});
