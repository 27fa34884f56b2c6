import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { release } from '../../../scripts/build/release.ts';

const clone = fileURLToPath(new URL('../../..', import.meta.url));
const DAY_MS = Date.parse('2026-12-01T10:00:00Z');
let root: string;
let said: string;

const git = (...args: string[]) => execFileSync('git', args, { cwd: root, encoding: 'utf8' }).trim();
const read = (file: string) => readFileSync(join(root, file), 'utf8');
const build = async (folder: string, version: string) => writeFileSync(join(folder, 'one.tgz'), version);
const run = (version: string, isDryRun: boolean, how = build) =>
  release(version, isDryRun, {
    ...{ root, build: how, nowMs: DAY_MS },
    tell: (line) => {
      said += `${line}\n`;
    },
  });

beforeEach(() => {
  root = `${mkdtempSync(join(tmpdir(), 'tollgate-release-'))}/`;
  said = '';
  mkdirSync(join(root, 'docs'));
  for (const file of ['package.json', 'package-lock.json']) cpSync(join(clone, file), join(root, file));
  writeFileSync(join(root, 'package.json'), read('package.json').replaceAll('@your-scope/', '@corp/'));
  writeFileSync(join(root, 'docs/CHANGELOG.md'), '# Changelog\n\n## Unreleased\n\nSome change.\n');
  writeFileSync(join(root, '.gitignore'), 'dist/\n');
  git('init', '--quiet');
  for (const [name, value] of [
    ['name', 'a'],
    ['email', 'a@corp.test'],
  ] as const)
    git('config', `user.${name}`, value);
  git('add', '--all');
  git('commit', '--quiet', '--message', 'All');
});
afterEach(() => rmSync(root, { recursive: true }));

test('a release names its version everywhere, with sums of what is published', async () => {
  await run('9.1.0', false);
  expect(git('describe')).toBe('v9.1.0');
  expect(git('status', '--porcelain')).toBe('');
  expect([JSON.parse(read('package.json')).version, JSON.parse(read('package-lock.json')).version]).toEqual([
    '9.1.0',
    '9.1.0',
  ]);
  expect(read('docs/CHANGELOG.md')).toBe(
    '# Changelog\n\n## Unreleased\n\n## 9.1.0 (2026-12-01)\n\nSome change.\n',
  );
  const sums = execFileSync('sha256sum', ['--check', 'SHA256SUMS'], { cwd: join(root, 'dist/release') });
  expect(`${sums}`).toBe('one.tgz: OK\n');
  expect(said).toContain('npm publish');
  await expect(run('9.1.0', true)).rejects.toThrow(/v9\.1\.0 is released.*\n.*says nothing/);
  await expect(run('9.0.9', true)).rejects.toThrow('9.0.9 is older than 9.1.0');
});

test('a dry run builds the same and changes nothing, also where files are changed', async () => {
  writeFileSync(join(root, 'new.txt'), '');
  await expect(run('9.1.0', false)).rejects.toThrow('files are changed');
  await run('9.1.0', true);
  expect([git('tag'), git('status', '--porcelain'), read('dist/release/one.tgz')]).toEqual([
    '',
    '?? new.txt',
    '9.1.0',
  ]);
  expect(said).toContain('Some change.');
});

test('builds that differ are not released', async () => {
  const times = [1, 2];
  const changing = (folder: string) => build(folder, `${times.shift()}`);
  await expect(run('9.1.0', false, changing)).rejects.toThrow('two builds of the same sources differ');
  expect(git('tag')).toBe('');
});
