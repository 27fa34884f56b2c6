/** Files that a user names and that are no documents, read by each command that takes a file. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, expect, test } from 'vitest';
import { runDesk } from '../cli/desk-run.ts';

const PROJECT = fileURLToPath(new URL('../../../', import.meta.url));
const dir = mkdtempSync(join(tmpdir(), 'user-files-'));
afterAll(() => rmSync(dir, { recursive: true }));
const fileOf = (name: string, text: string | Uint8Array): string => {
  writeFileSync(join(dir, name), text);
  return join(dir, name);
};
const fifo = (name: string): string => {
  execFileSync('mkfifo', [join(dir, name)]);
  return join(dir, name);
};

const run = async (...args: readonly string[]) => {
  const { code, out, err } = await runDesk(args, PROJECT, { cwd: dir });
  return { code, stdout: out, stderr: err };
};

const secret = 'S3CRET-of-another-file '.repeat(2_000);
const ZERO = '/dev/zero';

/** Each kind of file, read by one command. */
const KINDS: readonly [kind: string, file: string, says: RegExp][] = [
  ['missing', join(dir, 'absent.yml'), /absent\.yml.*: .*no such file or folder/],
  [
    'a program',
    fileOf('binary.yml', Buffer.from(`${secret}\0`)),
    /binary\.yml: is not text: byte \d+ is zero/,
  ],
  [
    'Latin letters',
    fileOf('latin.yml', Buffer.from('a: \xfc\n', 'latin1')),
    /latin\.yml: is not UTF-8 text; save/,
  ],
  ['endless', ZERO, /has more than \d+ MiB; expected/],
  ['unreadable', '/proc/self/mem', /mem: cannot be read: the device fails \(EIO\); check/],
  ['prose', fileOf('prose.yml', 'key: value: other: "\n'.repeat(5_000)), /prose\.yml/],
];

test.each(KINDS)('%s: one clear error with the file, the cause and the remedy', async (_, file, says) => {
  for (const args of [
    ['check', file],
    ['policy', 'validate', '--policy', file],
  ]) {
    const { code, stdout, stderr } = await run(...args);
    expect([code, stdout]).toEqual([3, '']);
    expect(stderr).toMatch(says);
    expect(stderr.length).toBeLessThan(4_000);
    expect(stderr).not.toMatch(/S3CRET|^\s+at /m);
  }
});

/** Each command that takes a file, with an endless one. */
const READERS: readonly (readonly string[])[] = [
  ['policy', 'test', ZERO],
  ['limits', 'publish', ZERO, '--why', 'x'],
  ['budget', 'import', ZERO],
  ['notes', 'consent', '1', '--tokens', '/a/b', '--token-from', ZERO],
  ['prices', 'compare', ZERO, '--month', '2026-10'],
];
test.each(READERS)('%s %s ends at a file without end', async (...args) => {
  const { code, stdout, stderr } = await run(...args);
  expect([code, stdout]).toEqual([3, '']);
  expect(stderr).toMatch(/\/dev\/zero.*: (?:has more than \d+ MiB|is no CSV)/);
  expect(stderr).not.toMatch(/^\s+at /m);
});

test('a silent pipe is given up', async () => {
  const { code, stderr } = await run('check', fifo('silent.yml'));
  expect([code, stderr]).toEqual([3, expect.stringContaining('silent.yml: gave nothing for 10 s; expected')]);
});

test('an include that is no text is named, not echoed', async () => {
  const folder = join(dir, 'pipeline');
  mkdirSync(join(folder, 'folder.yml'), { recursive: true });
  writeFileSync(join(folder, 'binary.yml'), `${secret}\0`);
  for (const [include, says] of [
    ['binary.yml', /^binary\.yml: is not text: byte \d+ is zero/],
    ['folder.yml', /^folder\.yml: is a folder; expected a file/],
  ] as const) {
    writeFileSync(join(folder, '.gitlab-ci.yml'), `include: /${include}\njob: { script: x }\n`);
    const { code, stderr } = await run('check', folder);
    expect(code).toBe(3);
    expect(stderr).toMatch(says);
    expect(stderr).not.toContain('S3CRET');
  }
});
