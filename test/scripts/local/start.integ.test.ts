import { execFile, spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { NOT_A_SECRET } from '../../../scripts/cli/pipeline/job-variables.ts';
import { readLocalRules } from '../../../scripts/local/admit.ts';
import { parseOptions } from '../../../scripts/local/options.ts';
import { run } from '../../../scripts/local/run.ts';
import { cert, key } from '../../../scripts/proof/bench/self-signed.ts';
import { question } from '../../support/flow/flow.ts';
import { patientRouter } from '../../support/flow/patient-router.ts';
import { PROVING_JOBS, proveSchema } from '../../support/flow/prove-schema.ts';
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

interface Watched {
  until(wanted: RegExp): Promise<string>;
  interrupt(): void;
  ended(): Promise<{ readonly code: number | null; readonly text: string }>;
}

async function watching<T>(
  args: readonly string[],
  use: (run: Watched) => Promise<T>,
  env: Readonly<Record<string, string>> = {},
): Promise<T> {
  const child = spawn(process.execPath, [START, ...args], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, ...env },
  });
  let text = '';
  child.stdout.on('data', (piece) => {
    text += String(piece);
    child.emit('printed');
  });
  const closed = new Promise<number | null>((resolve) => child.once('close', resolve));
  const printed = (): Promise<unknown> => new Promise((resolve) => child.once('printed', resolve));
  try {
    return await use({
      interrupt: () => child.kill('SIGINT'),
      ended: async () => ({ code: await closed, text }),
      async until(wanted) {
        while (!wanted.test(text)) {
          const code = await Promise.race([printed(), closed.then((ended) => ({ ended }))]);
          if (code !== undefined) throw new Error(`it ended without ${wanted}:\n${text}`);
        }
        return text;
      },
    });
  } finally {
    child.kill('SIGKILL');
  }
}

test('Ctrl-C ends a run with a summary and exit 0', async () => {
  await watching(['--memory', '--pipeline', PIPELINE, '--jobs', '5000', '--rate', '100'], async (run) => {
    await run.until(/^50\//m);
    run.interrupt();
    const { code, text } = await run.ended();
    expect(text).toMatch(/^\d{2,} decisions: /m);
    expect(text).toContain('Nothing is held any more.');
    expect(code).toBe(0);
  });
});

test('--router: the pilot answers the questions of a router with a private authority, and Ctrl-C prints the summary', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-pilot-'));
  const token = 'glrct-of-a-test';
  writeFileSync(join(folder, 'token'), `${token}\n`);
  writeFileSync(join(folder, 'ca.pem'), cert);
  const router = await patientRouter({
    controllers: [{ id: 7, tokens: [token], state: 'dry_run' }],
    tls: { key, cert },
  });
  try {
    const flags = [
      ...['--memory', '--router', router.wsUrl ?? '', '--gitlab', 'https://gitlab.example.com'],
      ...['--token-file', join(folder, 'token')],
    ];
    await watching(
      flags,
      async (run) => {
        const head = await run.until(/^ +job +group/m);
        expect(head).toContain('are taken to last as estimated');
        expect(head).not.toContain('console');
        await router.until(() => router.waitingStreams() > 0);
        await proveSchema(router);
        await router.admit({ ...question(1), image: { name: 'evil.example/x:1' } });
        await run.until(new RegExp(`^${PROVING_JOBS + 1} +unit .* rejected`, 'm'));
        run.interrupt();
        const { code, text } = await run.ended();
        expect(text).toContain(`${PROVING_JOBS + 1} decisions: ${PROVING_JOBS} admitted, 1 rejected, `);
        expect(text).not.toContain(token);
        expect(code).toBe(0);
      },
      { TOLLGATE_CA_FILE: join(folder, 'ca.pem') },
    );
  } finally {
    await router.close();
    rmSync(folder, { recursive: true, force: true });
  }
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
    if (options === 'help') throw new Error('not asked for help');
    await run(options, readLocalRules(options), ROOT, silentScreen(), new AbortController().signal);
  };
  await expect(started()).rejects.toThrow(says);
});

test('wrong usage is exit code 3, without a stack', async () => {
  const { code, stderr } = await start('--jobs', '0');
  expect([code, stderr]).toEqual([3, expect.stringContaining('expected a whole number from 1')]);
  expect(stderr).not.toMatch(/^\s+at /m);
});
