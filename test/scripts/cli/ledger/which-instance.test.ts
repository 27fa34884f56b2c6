import { expect, test } from 'vitest';
import type { KnownInstance } from '../../../../functions/core/ledger/instance-register.ts';
import { checkSameGitLab, whichInstance } from '../../../../scripts/cli/ledger/which-instance.ts';
import { whoseJobs } from '../../../../scripts/local/whose-jobs.ts';
import { UsageError } from '../../../../scripts/terminal/command.ts';

const known = (instance: string, openedAtMs: number, more: Partial<KnownInstance> = {}): KnownInstance => ({
  instance,
  openedAtMs,
  ...more,
});
const GITLAB = known('gitlab.example.com', 2, {
  gitlabUrl: 'https://gitlab.example.com',
  routerHost: 'kas.example.com',
});
const PLAYED = known('gitlab.local', 1);

const asked = (told: string | undefined, ...names: readonly KnownInstance[]) =>
  ({ told, known: names, kind: 'local', where: 'the ledger' }) as const;

test('books are found under the name they were written with, the latest of several', () => {
  expect(whichInstance(asked(undefined, PLAYED, GITLAB)).instance).toBe('gitlab.example.com');
  expect(whichInstance(asked('gitlab.local', PLAYED, GITLAB)).instance).toBe('gitlab.local');
  expect(whichInstance(asked(undefined)).instance).toBe('gitlab.local');
  expect(whichInstance(asked('kas.example.com')).instance).toBe('kas.example.com');
});

test('a name that the ledger does not know is refused with both names and the remedy', () => {
  expect(() => whichInstance(asked('kas.example.com', PLAYED, GITLAB))).toThrow(
    /--instance "kas\.example\.com": the ledger has books of gitlab\.local and gitlab\.example\.com, and none of kas\.example\.com; leave --instance/,
  );
});

test('a table of several GitLabs is never guessed at', () => {
  const table = (...names: readonly KnownInstance[]) =>
    ({ ...asked(undefined, ...names), kind: 'table' }) as const;
  expect(whichInstance(table(GITLAB)).instance).toBe('gitlab.example.com');
  expect(() => whichInstance(table(PLAYED, GITLAB))).toThrow(
    /books of gitlab\.local and gitlab\.example\.com/,
  );
  expect(() => whichInstance(table())).toThrow(UsageError);
});

test('books are not compared with the jobs of another GitLab, unless it is said to be the same', () => {
  const ledger = { instance: 'gitlab.example.com', description: 'the ledger' };
  const other = 'https://gitlab.other.com';
  expect(() => checkSameGitLab(other, ledger, {})).toThrow(
    /the ledger is about gitlab\.example\.com; say --gitlab https:\/\/gitlab\.example\.com, or --instance gitlab\.example\.com/,
  );
  for (const [url, flags, more] of [
    [other, { instance: 'gitlab.example.com' }, {}],
    [other, {}, { gitlabUrl: other }],
    ['https://gitlab.example.com/sub', {}, {}],
    ['http://127.0.0.1:8080', {}, {}],
  ] as const)
    expect(() => checkSameGitLab(url, { ...ledger, ...more }, flags), url).not.toThrow();
});

test.each([
  ['told', 'wss://kas.example.com', 'https://gitlab.example.com', [], 'gitlab.example.com'],
  ['remembered by its router', 'wss://kas.example.com', undefined, [PLAYED, GITLAB], 'gitlab.example.com'],
  ['below GitLab', 'wss://gitlab.example.com/-/kubernetes-agent/', undefined, [], 'gitlab.example.com'],
  ['played', undefined, undefined, [GITLAB], 'gitlab.local'],
] as const)('whose jobs a run decides about: %s', (_, router, gitlabUrl, names, instance) => {
  expect(whoseJobs({ router, gitlabUrl })(names).instance).toBe(instance);
});

test.each([
  ['wss://kas.example.com', '--gitlab is missing', 'e.g. --gitlab https://gitlab.example.com'],
  ['wss://kas.gitlab.acme.org', '--gitlab is missing', 'e.g. --gitlab https://gitlab.acme.org'],
])('the router %s alone does not tell', (router, says, hint) => {
  const tell = () => whoseJobs({ router, gitlabUrl: undefined })([PLAYED]);
  expect(tell).toThrow(says);
  expect(tell).toThrow(hint);
});

test('a router is not suddenly that of another GitLab', () => {
  const tell = () =>
    whoseJobs({ router: 'wss://kas.example.com', gitlabUrl: 'https://gitlab.other.com' })([GITLAB]);
  expect(tell).toThrow(
    /--gitlab says gitlab\.other\.com, .* kas\.example\.com as that of gitlab\.example\.com/,
  );
  expect(tell).toThrow(/--fresh/);
});
