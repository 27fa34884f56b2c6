/** Who may import whom: `policies ← core ← answers ← programs`, everything else around them (docs/DESIGN.md). */
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { RULE_KINDS } from '../policies/kinds/kinds.ts';
import { UNIT_OF } from '../policies/units/unit.ts';

const root = fileURLToPath(new URL('..', import.meta.url));

const FLOOR = ['policies/', 'functions/names.ts'];
/** Of each folder besides itself. The longest prefix counts; a program is a folder of `functions/` that has no line here. */
const MAY_IMPORT: Readonly<Record<string, readonly string[]>> = {
  'policies/': [],
  'functions/core/': FLOOR,
  'functions/answers/': [...FLOOR, 'functions/core/'],
  'functions/': [...FLOOR, 'functions/core/', 'functions/answers/'],
  'relay/': ['policies/', 'functions/names.ts', 'functions/core/contract/'],
  'cdk/': ['functions/names.ts', 'relay/names.ts', 'relay/wire/deployable-descriptors.ts'],
  // What a simulated month is judged by: written from the documents, never from what it judges.
  'scripts/proof/simulate/expected/': [],
};
/** Packages that only one folder knows. */
const ONLY_IN: Readonly<Record<string, string>> = {
  '@aws-sdk/client-dynamodb': 'functions/core/store/',
  '@grpc/grpc-js': 'relay/router/',
  ws: 'relay/router/',
  re2js: 'policies/match/',
  'csv-parse/sync': 'functions/core/limits/csv/',
  standardwebhooks: 'functions/settle/',
};

const files = ['policies', 'functions', 'relay', 'cdk', 'scripts/proof/simulate/expected'].flatMap((folder) =>
  readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.tsx?$/.test(name))
    .map((name) => `${folder}/${name}`),
);
const textOf = (file: string): string => readFileSync(join(root, file), 'utf8');
const importsOf = (file: string): readonly string[] =>
  [...textOf(file).matchAll(/(?:\bfrom|^import|\bimport\()\s*'([^']+)'/gm)].map(([, target = '']) =>
    target.startsWith('.') ? relative(root, join(root, dirname(file), target)) : target,
  );
const isOurs = (target: string): boolean => /^(policies|functions|relay|cdk|scripts)\//.test(target);

function mayImport(file: string, target: string): boolean {
  const [place = ''] = Object.keys(MAY_IMPORT)
    .filter((prefix) => file.startsWith(prefix))
    .sort((a, b) => b.length - a.length);
  const own = place === 'functions/' ? file.split('/').slice(0, 2).join('/') : place;
  return target.startsWith(own) || (MAY_IMPORT[place] ?? []).some((allowed) => target.startsWith(allowed));
}

test.each(files)('%s imports only what its place allows', (file) => {
  const strays = importsOf(file).filter((target) =>
    isOurs(target) ? !mayImport(file, target) : !file.startsWith(ONLY_IN[target] ?? ''),
  );
  expect(strays).toEqual([]);
});

test('no file needs itself by way of others', () => {
  const done = new Set<string>();
  const circles: string[] = [];
  const visit = (file: string, way: readonly string[]): void => {
    if (way.includes(file)) circles.push([...way.slice(way.indexOf(file)), file].join(' → '));
    else if (!done.has(file))
      for (const target of importsOf(file).filter(isOurs)) visit(target, [...way, file]);
    done.add(file);
  };
  for (const file of files) visit(file, []);
  expect(circles).toEqual([]);
});

test('policies are pure, and only a program that starts reads the environment', () => {
  const IMPURE = /\bDate\.now\(|new Date\(\)|Math\.random\(|\bprocess\.|\bfetch\(|setTimeout\(/;
  const strays = files.filter((file) =>
    (file.startsWith('policies/') ? IMPURE : /process\.env/).test(textOf(file)),
  );
  expect(strays.filter((file) => !/\/(handler|main)\.ts$|^cdk\/app\.ts$/.test(file))).toEqual([]);
});

test('what a unit or a kind of rule decides is a property of its row', () => {
  const names = [...Object.entries(UNIT_OF).flat(), ...RULE_KINDS].join('|');
  const COMPARED = new RegExp(`\\b(kind|unit)\\)? [=!]== '(${names})'|case '(micros|money)'`);
  const own = files.filter((file) => !/^relay\/translate\/|\/expected\//.test(file));
  expect(own.filter((file) => COMPARED.test(textOf(file)))).toEqual([]);
});
