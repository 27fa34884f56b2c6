/** Documents name only files, headings, npm scripts, commands and flags that exist. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { headingAnchor } from '../cdk/monitoring/runbook.ts';
import packageJson from '../package.json' with { type: 'json' };
import { COMMANDS } from '../scripts/cli/commands.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const documents = [
  'README.md',
  ...['docs', 'policies', 'functions', 'relay', 'cdk', 'scripts', 'test'].flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.md'))
      .map((name) => join(folder, name)),
  ),
];
const textOf = (file: string): string => readFileSync(join(root, file), 'utf8');
const withoutCode = (text: string): string => text.replace(/^ *```[\s\S]*?^ *```$/gm, '');
const anchorsOf = (file: string): readonly string[] =>
  [...withoutCode(textOf(file)).matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) => headingAnchor(heading));

/** Shell lines without comments, continued ones joined, and text between backticks. */
const shownIn = (text: string): readonly string[] => [
  ...[...text.matchAll(/^ *```sh\n([\s\S]*?)^ *```$/gm)].flatMap(([, block = '']) =>
    block
      .replaceAll(/\\\n\s*/g, '')
      .split('\n')
      .map((line) => line.replace(/\s+#\s.*$/, '').trim()),
  ),
  ...[...withoutCode(text).matchAll(/`([^`]+)`/g)].map(([, code = '']) => code.replaceAll(/\s+/g, ' ')),
];
const startingWith = (words: string): readonly string[] =>
  documents.flatMap((file) => shownIn(textOf(file)).filter((line) => line.startsWith(words)));

test.each(documents)('every link in %s leads somewhere', (file) => {
  const links = [...withoutCode(textOf(file)).matchAll(/\]\(([^)\s]+)\)/g)].map(([, link = '']) => link);
  const broken = links
    .filter((link) => !/^https?:/.test(link))
    .filter((link) => {
      const [path = '', anchor] = link.split('#');
      const target = path === '' ? file : join(dirname(file), path);
      return !existsSync(join(root, target)) || (anchor !== undefined && !anchorsOf(target).includes(anchor));
    });
  expect(broken).toEqual([]);
});

test('every npm script that documents name is in package.json', () => {
  const named = startingWith('npm run ').map((line) => line.split(' ')[2] ?? '');
  expect(named.length).toBeGreaterThan(20);
  expect(named.filter((name) => !Object.hasOwn(packageJson.scripts, name))).toEqual([]);
});

test('every tollgate command that documents name exists, with its flags', async () => {
  const shown = startingWith('npx tollgate ').map((line) => line.slice('npx tollgate '.length));
  expect(shown.length).toBeGreaterThan(40);
  const wrong: string[] = [];
  for (const words of shown) {
    if (words === 'help') continue;
    // `budget …` means every command that begins with it.
    const family = /^(\S+) …$/.exec(words)?.[1];
    const entry = COMMANDS.filter(
      ({ name }) => `${words} `.startsWith(`${name} `) || (family && name.startsWith(`${family} `)),
    ).sort((a, b) => b.name.length - a.name.length)[0];
    const help = (await entry?.load())?.help('') ?? '';
    const flags = [...words.matchAll(/--[a-z-]+/g)].map(([flag]) => flag);
    if (entry === undefined || flags.some((flag) => flag !== '--help' && !help.includes(flag)))
      wrong.push(words);
  }
  expect(wrong).toEqual([]);
});

test('a first afternoon needs three commands until the first decision', () => {
  const [, section = ''] = textOf('docs/platform.md').split(/^## First afternoon\n/m);
  const [, first = ''] = /```sh\n([\s\S]*?)```/.exec(section) ?? [];
  expect(
    first
      .trim()
      .split('\n')
      .map((line) => line.split(' --')[0]),
  ).toEqual(['npx tollgate gitlab setup', 'npx tollgate gitlab descriptors', 'npm start']);
});
