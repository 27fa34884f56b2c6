/** One name, one thing: what modules export, and the words of docs/DESIGN.md that exported types are made of. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { RULE_KINDS } from '../policies/kinds/kinds.ts';
import { UNIT_OF } from '../policies/units/unit.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
/** What Lambda, CDK, node and npm scripts call. */
const ENTRY = /\/(handler|main|app)\.ts$|^scripts\/[^/]+\.ts$/;

const filesIn = (folder: string): readonly string[] =>
  readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.(tsx?|mjs)$/.test(name))
    .map((name) => `${folder}/${name}`);
const files = ['policies', 'functions', 'relay', 'cdk', 'scripts', 'test'].flatMap(filesIn);
const texts = new Map(files.map((file) => [file, readFileSync(join(root, file), 'utf8')]));
const exported = [...texts].flatMap(([file, text]) =>
  file.startsWith('test/')
    ? []
    : [...text.matchAll(/^export (?:async |abstract )*(function\*?|const|class|interface|type) (\w+)/gm)].map(
        ([, kind = '', name = '']) => ({ file, kind, name }),
      ),
);

test('no exported name is defined in two modules', () => {
  const twice = [...Map.groupBy(exported, ({ name }) => name)].filter(
    ([name, all]) => name !== 'handler' && new Set(all.map(({ file }) => file)).size > 1,
  );
  expect(twice.map(([name, all]) => `${name}: ${all.map(({ file }) => file).join(', ')}`)).toEqual([]);
});

test('every export has an importer, and a test alone is none for what its own module does not use', () => {
  const users = new Map(exported.map(({ name }) => [name, [] as string[]]));
  for (const [file, text] of texts)
    if (!file.endsWith('/index.ts'))
      for (const word of new Set(text.match(/\w+/g))) users.get(word)?.push(file);
  const strays = exported.filter(({ file, name }) => {
    const others = (users.get(name) ?? []).filter((other) => other !== file);
    const isUsed = others.some((other) => !other.startsWith('test/')) || ENTRY.test(file);
    return (
      !isUsed &&
      (others.length === 0 || (texts.get(file)?.split(new RegExp(`\\b${name}\\b`)).length ?? 0) < 3)
    );
  });
  expect(strays.map(({ file, name }) => `${file} ${name}`)).toEqual([]);
});

test('exported types end in a noun of the glossary', () => {
  const [, words = ''] = readFileSync(join(root, 'docs/DESIGN.md'), 'utf8').split(/^## Words\n/m);
  const [table = '', heads = ''] = (words.split(/^## /m)[0] ?? '').split('Head nouns:');
  const rows = [...table.matchAll(/^\| ([^|]+) \|/gm)].map(([, row]) => row);
  const nouns = new Set(`${rows.join(' ')} ${heads}`.toLowerCase().match(/[a-z0-9]+/g));
  const strays = exported.filter(({ kind, name }) => {
    const whole = name.replace(/(?<=Git|Sign|In)(Lab|In|Force)/g, (part) => part.toLowerCase());
    const last = /[A-Z][a-z0-9]*$/.exec(whole)?.[0].toLowerCase() ?? name;
    return (
      /class|interface|type/.test(kind) &&
      ![/$/, /s$/, /es$/].some(
        (end) => nouns.has(last.replace(end, '')) || nouns.has(last.replace(/ies$/, 'y')),
      )
    );
  });
  expect(strays.map(({ file, name }) => `${file} ${name}`)).toEqual([]);
});

test('what a unit or a kind of rule decides is a property of its row: nobody else compares them', () => {
  const names = [...Object.entries(UNIT_OF).flat(), ...RULE_KINDS].join('|');
  const compared = new RegExp(`\\b(kind|unit)\\)? [=!]== '(${names})'|case '(micros|money)'`);
  const strays = files.filter(
    (file) =>
      /^(policies|functions|relay\/(?!translate)|cdk)/.test(file) && compared.test(texts.get(file) ?? ''),
  );
  expect(strays).toEqual([]);
});
