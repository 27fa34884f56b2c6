import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import provider from './provider.json' with { type: 'json' };

const FOLDER = new URL('../../../cdk/gitlab/', import.meta.url);
const read = (file: string) => readFileSync(new URL(file, FOLDER), 'utf8');

interface Block {
  readonly type: string;
  readonly arguments: readonly string[];
}

/** The blocks of one kind in a file as `terraform fmt` leaves it: what stands two spaces in is an argument of its own. */
const blocksOf = (kind: string, text: string): readonly Block[] =>
  [...text.matchAll(new RegExp(`^${kind} "(\\w+)"[^{\\n]*\\{\\n(.*?)^\\}`, 'gms'))].map(
    ([, type = '', body = '']) => ({
      type,
      arguments: [...body.matchAll(/^ {2}(\w+) += /gm)].map(([, name = '']) => name),
    }),
  );

/** What Terraform gives every resource. */
const META = ['count', 'for_each', 'depends_on', 'provider'];

const resources = blocksOf('resource', read('main.tf'));
const ours = resources.filter(({ type }) => type.startsWith('gitlab_'));

test('the module has a controller, both scopes and a token', () => {
  expect(new Set(ours.map(({ type }) => type))).toEqual(new Set(Object.keys(provider.resources)));
});

test.each(ours)(
  '$type has the arguments of GitLab’s provider, and those it needs',
  ({ type, arguments: used }) => {
    const { required, optional } = provider.resources[type as keyof typeof provider.resources];
    const known: readonly string[] = [...required, ...optional, ...META];
    expect(used.filter((name) => !known.includes(name))).toEqual([]);
    expect(required.filter((name) => !used.includes(name))).toEqual([]);
  },
);

test('the provider it asks for is the one these arguments are from, or a later one', () => {
  expect(read('versions.tf')).toContain(
    `source  = "gitlabhq/gitlab"\n      version = ">= ${provider.version}"`,
  );
});

test('every variable is used, and every variable that is used is there', () => {
  const declared = blocksOf('variable', read('variables.tf')).map(({ type }) => type);
  const used = [...read('main.tf').matchAll(/\bvar\.(\w+)/g)].map(([, name = '']) => name);
  expect(new Set(used)).toEqual(new Set(declared));
});

test('an apply neither arms nor disarms', () => {
  const text = read('main.tf');
  expect(text).toMatch(/state = "dry_run"\n\n {2}lifecycle \{\n(?: {4}#.*\n)* {4}ignore_changes = \[state\]/);
});

test('its door shows variables that are there', () => {
  const shown = blocksOf('module', read('README.md').replace(/^ {2}source .*\n/m, ''))[0]?.arguments ?? [];
  const declared = blocksOf('variable', read('variables.tf')).map(({ type }) => type);
  expect(shown).toContain('runner_ids');
  expect(shown.filter((name) => !declared.includes(name))).toEqual([]);
});
