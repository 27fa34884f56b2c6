import { spawnSync } from 'node:child_process';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, expect, test } from 'vitest';

const SCRIPT = fileURLToPath(new URL('../../scripts/ensure-installed.mjs', import.meta.url));
const LOCKED_AT = new Date('2026-11-21T12:00:00Z');
const EARLIER = new Date('2026-11-20T12:00:00Z');
const LATER = new Date('2026-11-22T12:00:00Z');
/** Notes what it was asked for. */
const NPM = `
require('node:fs').writeFileSync(require('node:path').join(__dirname, 'asked'), process.argv.slice(2).join(' '));
process.exit(Number(process.env.NPM_EXITS));
`;

let clone = '';
beforeEach(() => {
  clone = mkdtempSync(join(tmpdir(), 'tollgate-clone-'));
  mkdirSync(join(clone, 'scripts'));
  copyFileSync(SCRIPT, join(clone, 'scripts/ensure-installed.mjs'));
  written('package-lock.json', LOCKED_AT);
  writeFileSync(join(clone, 'npm.cjs'), NPM);
});
afterEach(() => rmSync(clone, { recursive: true, force: true }));

function written(path: string, at: Date): void {
  writeFileSync(join(clone, path), '{}');
  utimesSync(join(clone, path), at, at);
}

function ensureInstalled(npmExits = 0) {
  const { status, stderr } = spawnSync(process.execPath, [join(clone, 'scripts/ensure-installed.mjs')], {
    encoding: 'utf8',
    env: { ...process.env, npm_execpath: join(clone, 'npm.cjs'), NPM_EXITS: String(npmExits) },
  });
  const note = join(clone, 'asked');
  return { status, stderr, asked: existsSync(note) ? readFileSync(note, 'utf8') : undefined };
}

test('a fresh clone gets exactly the locked packages', () => {
  expect(ensureInstalled()).toMatchObject({ status: 0, asked: 'ci --no-audit --no-fund' });
});

test('packages older than the lock file are installed again, newer ones are not', () => {
  mkdirSync(join(clone, 'node_modules'));
  written('node_modules/.package-lock.json', LATER);
  expect(ensureInstalled()).toEqual({ status: 0, stderr: '', asked: undefined });
  written('node_modules/.package-lock.json', EARLIER);
  expect(ensureInstalled().asked).toBe('ci --no-audit --no-fund');
});

test('an install that fails stops the command, with npm’s exit code and what to look at', () => {
  const { status, stderr } = ensureInstalled(7);
  expect(status).toBe(7);
  expect(stderr).toContain('Check that the package registry can be reached');
});

test('packages that are a link to somebody else’s are never emptied', () => {
  mkdirSync(join(clone, 'elsewhere'));
  written('elsewhere/.package-lock.json', EARLIER);
  symlinkSync(join(clone, 'elsewhere'), join(clone, 'node_modules'));
  const { status, stderr, asked } = ensureInstalled();
  expect(status).toBe(3);
  expect(asked).toBeUndefined();
  expect(stderr).toContain('run npm ci where it points to');
});
