import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, onTestFinished, test } from 'vitest';
import { NOT_A_SECRET } from '../../../scripts/cli/pipeline/job-variables.ts';
import { readLocalRules } from '../../../scripts/local/admit.ts';
import { parseOptions } from '../../../scripts/local/options.ts';
import { run } from '../../../scripts/local/run.ts';
import { silentScreen } from './example-ledger.ts';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
const START = fileURLToPath(new URL('../../../scripts/local/start.ts', import.meta.url));
const PIPELINE = fileURLToPath(new URL('../../../scripts/local/pipelines/web-shop', import.meta.url));

interface Ended {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

const start = (...args: readonly string[]): Promise<Ended> =>
  promisify(execFile)(process.execPath, [START, ...args], { timeout: 240_000 }).then(
    ({ stdout, stderr }) => ({ code: 0, stdout, stderr }),
    ({ code, stdout, stderr }) => ({ code, stdout, stderr }),
  );

test('--json prints one object per decision and a summary that adds up, and no secret', async () => {
  const { code, stdout } = await start('--memory', '--json', '--pipeline', PIPELINE, '--jobs', '40');
  expect(code).toBe(0);
  const lines = stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  const summary = lines.at(-1);
  const decisions = lines.filter(({ type }) => type === 'decision');
  expect(decisions).toHaveLength(40);
  expect(summary).toMatchObject({ type: 'summary', decisions: 40, ends: { holdsLeft: 0 } });
  // On a machine that stood still for seconds the relay answers by itself, as it should.
  expect(summary.fallback).toBeLessThan(20);
  expect(decisions.filter(({ outcome }) => outcome === 'rejected')).toHaveLength(summary.rejected);
  expect(stdout).not.toContain(NOT_A_SECRET);
});

test('Ctrl-C ends a run with a summary and exit 0', async () => {
  const args = ['--memory', '--pipeline', PIPELINE, '--jobs', '5000', '--rate', '100'];
  const child = spawn(process.execPath, [START, ...args], { stdio: ['ignore', 'pipe', 'inherit'] });
  onTestFinished(() => void child.kill('SIGKILL'));
  let text = '';
  let isInterrupted = false;
  for await (const piece of child.stdout) {
    text += String(piece);
    if (!isInterrupted && /^50\//m.test(text)) isInterrupted = child.kill('SIGINT');
  }
  const code = child.exitCode ?? (await once(child, 'exit'))[0];
  expect(isInterrupted).toBe(true);
  expect(text).toMatch(/^\d{2,3} decisions: /m);
  expect(text).toContain('Nothing is held any more.');
  expect(code).toBe(0);
});

const NAMED = ['--gitlab', 'https://gitlab.example.com'];
test.each([
  { args: ['--jobs', 'many'], says: '--jobs "many": expected a whole number' },
  { args: ['--router', 'wss://kas.example.com'], says: '--router needs --token-file' },
  { args: ['--token-file', 'x'], says: '--token-file belongs to --router' },
  { args: ['--pipeline', 'no-such-folder'], says: 'no-such-folder: no such file or folder' },
  { args: ['--pipeline', fileURLToPath(new URL('.', import.meta.url))], says: 'has no .gitlab-ci.yml' },
  {
    args: ['--router', 'grpc://kas.example.com', ...NAMED, '--token-file', START],
    says: '--router is "grpc://kas.example.com": without TLS',
  },
  {
    args: ['--router', 'wss://kas.example.com', ...NAMED, '--token-file', 'no-such-token'],
    says: 'no-such-token cannot be read',
  },
  {
    args: ['--router', 'wss://kas.example.com', '--token-file', START],
    says: "--gitlab is missing: kas.example.com is the job router's host",
  },
  { args: ['--gitlab', 'https://gitlab.example.com'], says: '--gitlab belongs to --router' },
  { args: ['--insecure'], says: '--insecure: is no flag of this command' },
  { args: ['somewhere'], says: '"somewhere": expected no words' },
  { args: ['--policy', 'no-such.yaml'], says: 'no-such.yaml: cannot be read' },
])('refuses $args with the remedy', async ({ args, says }) => {
  const started = async () => {
    const options = parseOptions(['--memory', ...args], ROOT);
    await run(options, readLocalRules(options), ROOT, silentScreen(), new AbortController().signal);
  };
  await expect(started()).rejects.toThrow(says);
});

test('wrong usage is exit code 3, without a stack', async () => {
  const { code, stderr } = await start('--jobs', '0');
  expect([code, stderr]).toEqual([3, expect.stringContaining('expected a whole number from 1')]);
  expect(stderr).not.toMatch(/^\s+at /m);
});
