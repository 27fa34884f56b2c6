import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { NOT_A_SECRET } from '../../scripts/pipeline/job-variables.ts';

const START = fileURLToPath(new URL('../../scripts/start.ts', import.meta.url));
const PIPELINE = fileURLToPath(new URL('../../scripts/local/pipelines/web-shop', import.meta.url));

interface Ended {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs `npm start` without npm. */
const start = (...args: readonly string[]): Promise<Ended> =>
  promisify(execFile)(process.execPath, [START, ...args], { timeout: 60_000 }).then(
    ({ stdout, stderr }) => ({ code: 0, stdout, stderr }),
    ({ code, stdout, stderr }) => ({ code, stdout, stderr }),
  );

test('replays a pipeline through everything: a line per decision, a summary, exit 0', async () => {
  const { code, stdout } = await start('--memory', '--pipeline', PIPELINE, '--jobs', '40', '--rate', '200');
  expect(code).toBe(0);
  expect(stdout.match(/^\d+\/40 .* (admitted|rejected)/gm)).toHaveLength(40);
  expect(stdout).toMatch(/40 decisions: \d+ admitted, \d+ rejected, 0 by fallback\./);
  expect(stdout).toMatch(/\d+ jobs ran to their end: \d+ told by webhook, \d+ by the sweep\./);
  expect(stdout).toContain('Nothing is held any more.');
  expect(stdout).toContain('in memory, forgotten at the end (--memory)');
});

test('--json prints one object per decision and a summary that adds up, and no secret', async () => {
  const { code, stdout } = await start(
    '--memory',
    '--json',
    '--pipeline',
    PIPELINE,
    '--jobs',
    '40',
    '--rate',
    '200',
  );
  expect(code).toBe(0);
  const lines = stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  const summary = lines.at(-1);
  const decisions = lines.filter(({ type }) => type === 'decision');
  expect(decisions).toHaveLength(40);
  expect(summary).toMatchObject({ type: 'summary', decisions: 40, fallback: 0, ends: { holdsLeft: 0 } });
  expect(decisions.filter(({ outcome }) => outcome === 'rejected')).toHaveLength(summary.rejected);
  expect(stdout).not.toContain(NOT_A_SECRET);
});

test('says what it can do', async () => {
  const { code, stdout } = await start('--help');
  expect(code).toBe(0);
  for (const flag of [
    '--router',
    '--token-file',
    '--pipeline',
    '--jobs',
    '--rate',
    '--forever',
    '--json',
    '--fresh',
  ]) {
    expect(stdout).toContain(flag);
  }
});

test.each([
  { args: ['--jobs', 'many'], says: '--jobs is "many"; expected a whole number' },
  { args: ['--router', 'wss://kas.example.com'], says: '--router needs --token-file' },
  { args: ['--token-file', 'x'], says: '--token-file belongs to --router' },
  { args: ['--pipeline', 'no-such-folder'], says: '--pipeline no-such-folder: no such file or folder' },
  { args: ['--pipeline', fileURLToPath(new URL('.', import.meta.url))], says: 'has no jobs' },
  {
    args: ['--router', 'grpc://kas.example.com', '--token-file', START],
    says: '--router is "grpc://kas.example.com": without TLS',
  },
  {
    args: ['--router', 'wss://kas.example.com', '--token-file', 'no-such-token'],
    says: 'no-such-token cannot be read',
  },
  { args: ['--policy', 'no-such.yaml'], says: 'no-such.yaml: cannot be read' },
])('refuses $args with exit 3 and the remedy', async ({ args, says }) => {
  const { code, stderr } = await start('--memory', ...args);
  expect(stderr).toContain(says);
  expect(stderr).not.toMatch(/^\s+at /m);
  expect(code).toBe(3);
});
