import { expect, test } from 'vitest';
import type { KnownInstance } from '../../../../functions/core/ledger/instances.ts';
import { chooseInstance } from '../../../../scripts/cli/open-ledger.ts';
import { whoseJobs } from '../../../../scripts/local/options.ts';
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

const asked = (named: string | undefined, ...names: readonly KnownInstance[]) =>
  ({ named, gitlab: undefined, known: names, kind: 'local', where: 'the ledger' }) as const;

test('books are found under the name they were written with, the latest of several', () => {
  expect(chooseInstance(asked(undefined, PLAYED, GITLAB)).instance).toBe('gitlab.example.com');
  expect(chooseInstance(asked('gitlab.local', PLAYED, GITLAB)).instance).toBe('gitlab.local');
  expect(chooseInstance(asked(undefined)).instance).toBe('gitlab.local');
  expect(chooseInstance(asked('kas.example.com')).instance).toBe('kas.example.com');
});

test('a table of several GitLabs is never guessed at', () => {
  const table = (...names: readonly KnownInstance[]) =>
    ({ ...asked(undefined, ...names), kind: 'table' }) as const;
  expect(chooseInstance(table(GITLAB)).instance).toBe('gitlab.example.com');
  expect(() => chooseInstance(table(PLAYED, GITLAB))).toThrow(
    /GitLab instances gitlab\.local and gitlab\.example\.com/,
  );
  expect(() => chooseInstance(table())).toThrow(UsageError);
});

test('a command that asks a GitLab reads the books of that one', () => {
  const of = (gitlab: string, ...names: readonly KnownInstance[]) =>
    chooseInstance({ ...asked(undefined, ...names), gitlab }).instance;
  const demoLast = known('gitlab.local', 3);
  expect(of('https://gitlab.example.com', GITLAB, demoLast)).toBe('gitlab.example.com');
  expect(of('https://gitlab.example.com/sub', GITLAB)).toBe('gitlab.example.com');
  const renamed = known('git.old.example', 1, { gitlabUrl: 'https://git.new.example' });
  for (const host of ['git.old.example', 'git.new.example'])
    expect(of(`https://${host}`, renamed, demoLast)).toBe('git.old.example');
});

test.each([
  ['https://gitlab.other.com', 'gitlab.other.com', [GITLAB]],
  ['https://gitlab.other.com', 'gitlab.other.com', [PLAYED]],
  ['http://127.0.0.1:8080', '127.0.0.1', [GITLAB]],
  ['http://127.0.0.1:8080', '127.0.0.1', []],
])('the books of no other GitLab are read for %s', (gitlab, host, names) => {
  const theirs = names[0]?.instance ?? 'gitlab.local';
  expect(() => chooseInstance({ ...asked(undefined, ...names), gitlab })).toThrow(
    `--gitlab "${gitlab}": the ledger has data of ${theirs}, and none of ${host}; name the table of ${host} with --ledger, or say --instance ${theirs} if both are one GitLab`,
  );
});

test.each([
  ['named', 'wss://kas.example.com', 'https://gitlab.example.com', [], 'gitlab.example.com'],
  ['remembered by its router', 'wss://kas.example.com', undefined, [PLAYED, GITLAB], 'gitlab.example.com'],
  ['below GitLab', 'wss://gitlab.example.com/-/kubernetes-agent/', undefined, [], 'gitlab.example.com'],
  ['played', undefined, undefined, [GITLAB], 'gitlab.local'],
] as const)('whose jobs a run decides about: %s', (_, router, gitlabUrl, names, instance) => {
  expect(whoseJobs({ router, gitlabUrl })(names).instance).toBe(instance);
});
