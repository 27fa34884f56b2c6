import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, expect, test } from 'vitest';

const PROGRAM = fileURLToPath(new URL('../../../../scripts/proof/conformance.ts', import.meta.url));
/** A PATH without Go, and without anything else. */
const emptyFolder = mkdtempSync(join(tmpdir(), 'tollgate-no-go-'));
afterAll(() => rmSync(emptyFolder, { recursive: true, force: true }));

const run = (...args: readonly string[]) =>
  spawnSync(process.execPath, [PROGRAM, ...args], { encoding: 'utf8', env: { PATH: emptyFolder } });

test('without Go it says what to install, and ends with 3', () => {
  const { status, stdout, stderr } = run();
  expect(status).toBe(3);
  expect(stderr).toContain('Go is missing');
  expect(stderr).toContain('https://go.dev/dl/');
  expect(stdout).toBe('');
});

test.each([['--only', 'no such phase'], ['--unheard-of']])(
  '%s %s is wrong usage, before anything is built',
  (...args) => {
    const { status, stderr } = run(...args.filter((arg) => arg !== undefined));
    expect(status).toBe(3);
    expect(stderr).not.toContain('Building');
  },
);

test('--help names every phase and needs nothing', () => {
  const { status, stdout } = run('--help');
  expect(status).toBe(0);
  for (const name of [
    'every day over wss',
    'ageing connections',
    'hostile questions',
    '10 drains under load',
  ])
    expect(stdout).toContain(name);
});
