import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
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
