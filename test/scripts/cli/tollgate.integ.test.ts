import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { aProject } from './desk-run.ts';

const bin = fileURLToPath(new URL('../../../scripts/tollgate.mjs', import.meta.url));

const tollgate = (...args: string[]) =>
  spawnSync(process.execPath, [bin, ...args], {
    cwd: tmpdir(),
    encoding: 'utf8',
    env: { ...process.env, NO_COLOR: '1' },
  });

test('the bin works from any folder and tells what there is', () => {
  const { status, stdout, stderr } = tollgate();
  expect(stderr).toBe('');
  expect(stdout).toContain('policy validate');
  expect(status).toBe(0);
});

test('the bin passes the exit code through and keeps stdout for results', () => {
  const { status, stdout, stderr } = tollgate('polcy');
  expect({ status, stdout }).toEqual({ status: 3, stdout: '' });
  expect(stderr).toContain('is no command');
});

test('a failure with --json is JSON on stdout and nothing else', () => {
  const { status, stdout, stderr } = tollgate('policy', 'validate', '--policy', '/nowhere.yaml', '--json');
  expect({ status, stderr }).toEqual({ status: 3, stderr: '' });
  expect(JSON.parse(stdout)).toMatchObject({ error: { code: 'invalid' } });
});

test('a signal reaches the program, and ends the bin the way it ended the program', async () => {
  const fifo = join(aProject(), 'fixtures.yaml');
  execFileSync('mkfifo', [fifo]);
  const child = spawn(process.execPath, [bin, 'policy', 'test', fifo], { stdio: 'ignore' });
  const exit = once(child, 'exit');
  // Opens when the program has begun to read; it then waits for a text that never comes.
  const writer = await open(fifo, 'w');
  child.kill('SIGTERM');
  expect(await exit).toEqual([null, 'SIGTERM']);
  await expect(writer.write('x')).rejects.toThrow('EPIPE');
  await writer.close();
});

test('the repository’s own policy is valid and decides what its fixtures expect, every rule acting', () => {
  expect(tollgate('policy', 'validate')).toMatchObject({ status: 0 });
  const { status, stdout } = tollgate('policy', 'test', '--coverage-min', '100');
  expect(stdout).toContain('coverage 100 % of rules');
  expect(status).toBe(0);
});

test('a pipeline that stands for more than anybody can read ends the bin with its place', () => {
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-bomb-'));
  try {
    const level = (at: number): string =>
      `.r${at}: [${Array.from({ length: 8 }, () => `!reference [.r${at + 1}]`).join(', ')}]`;
    const levels = Array.from({ length: 9 }, (_, at) => level(at)).join('\n');
    writeFileSync(
      join(folder, '.gitlab-ci.yml'),
      `${levels}\n.r9: [x]\nj: { script: x, tags: !reference [.r0] }\n`,
    );
    const { status, stdout } = tollgate('check', folder, '--json');
    expect(status).toBe(3);
    expect(JSON.parse(stdout).error).toMatchObject({
      code: 'invalid',
      problems: [expect.stringMatching(/^\.gitlab-ci\.yml:\d+: \.r\d: .* multiply to more than/)],
    });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
