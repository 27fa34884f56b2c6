import { execFile, spawn } from 'node:child_process';
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { NOT_A_SECRET } from '../../../scripts/cli/pipeline/job-variables.ts';
import { cert, key } from '../../../scripts/proof/bench/self-signed.ts';
import { question } from '../../support/flow/flow.ts';
import { patientRouter } from '../../support/flow/patient-router.ts';
import { PROVING_JOBS, proveSchema } from '../../support/flow/prove-schema.ts';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
const START = fileURLToPath(new URL('../../../scripts/local/start.ts', import.meta.url));
const PIPELINE = fileURLToPath(new URL('../../../scripts/local/pipelines/web-shop', import.meta.url));

interface Ended {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs `npm start` without npm. */
const start = (...args: readonly string[]): Promise<Ended> =>
  promisify(execFile)(process.execPath, [START, ...args], { timeout: 240_000 }).then(
    ({ stdout, stderr }) => ({ code: 0, stdout, stderr }),
    ({ code, stdout, stderr }) => ({ code, stdout, stderr }),
  );

test('replays a pipeline through everything: a line per decision, a summary, exit 0', async () => {
  const { code, stdout } = await start('--memory', '--pipeline', PIPELINE, '--jobs', '40', '--rate', '200');
  expect(code).toBe(0);
  expect(stdout.match(/^\d+\/40 .* (admitted|rejected)/gm)).toHaveLength(40);
  // On a machine that stood still for seconds the relay answers by itself, as it should.
  const [, fallbacks] = /40 decisions: \d+ admitted, \d+ rejected, (\d+) by fallback\./.exec(stdout) ?? [];
  expect(Number(fallbacks)).toBeLessThan(20);
  expect(stdout).toMatch(/\d+ jobs ran to their end: \d+ told by webhook, \d+ by the sweep\./);
  expect(stdout).toContain('Nothing is held any more.');
  expect(stdout).toContain('in memory, forgotten at the end (--memory)');
});

test('--memory leaves the project folder and the books kept in it as they are', async () => {
  const root = mkdtempSync(join(tmpdir(), 'tollgate-memory-'));
  using _ = { [Symbol.dispose]: () => rmSync(root, { recursive: true, force: true }) };
  for (const name of ['functions', 'node_modules', 'package.json', 'policies', 'relay', 'scripts'])
    symlinkSync(join(ROOT, name), join(root, name));
  const books = join(root, '.tollgate', 'ledger');
  mkdirSync(books, { recursive: true });
  const leftOff = '{"atMs":4102444800000,"jobId":90000000}\n';
  writeFileSync(join(books, 'left-off.json'), leftOff);
  const tree = () => [readdirSync(root), readdirSync(books)];
  const before = tree();
  const { stderr } = await promisify(execFile)(process.execPath, [
    ...['--preserve-symlinks', '--preserve-symlinks-main', join(root, 'scripts', 'local', 'start.ts')],
    ...['--memory', '--jobs', '3', '--rate', '100'],
  ]);
  expect([stderr, tree()]).toEqual(['', before]);
  expect(readFileSync(join(books, 'left-off.json'), 'utf8')).toBe(leftOff);
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
  expect(summary).toMatchObject({ type: 'summary', decisions: 40, ends: { holdsLeft: 0 } });
  expect(summary.fallback).toBeLessThan(20);
  expect(decisions.filter(({ outcome }) => outcome === 'rejected')).toHaveLength(summary.rejected);
  expect(stdout).not.toContain(NOT_A_SECRET);
});

/** A run that is watched, and perhaps interrupted. */
interface Watched {
  /** All it printed so far, once `wanted` is in it. */
  until(wanted: RegExp): Promise<string>;
  interrupt(): void;
  /** All it printed, and its exit code. */
  ended(): Promise<{ readonly code: number | null; readonly text: string }>;
}

/** Whatever becomes of the test, the run does not stay. */
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

test('--forever goes on past the end of the pipeline, and Ctrl-C ends it with a summary and exit 0', async () => {
  await watching(['--memory', '--pipeline', PIPELINE, '--rate', '200', '--forever'], async (run) => {
    expect(await run.until(/^200 /m)).toMatch(/^closes +with Ctrl-C$/m);
    run.interrupt();
    const { code, text } = await run.ended();
    expect(text).toMatch(/^\d{3,} decisions: /m);
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
  { args: ['--jobs', '5', '--forever'], says: '--jobs has no meaning with --forever' },
  { args: ['--jobs', '0'], says: 'expected a whole number from 1' },
  { args: ['--insecure'], says: '--insecure: is no flag of this command' },
  { args: ['somewhere'], says: '"somewhere": expected no words' },
  { args: ['--policy', 'no-such.yaml'], says: 'no-such.yaml: cannot be read' },
])('refuses $args with exit 3 and the remedy', async ({ args, says }) => {
  const { code, stderr } = await start('--memory', ...args);
  expect(stderr).toContain(says);
  expect(stderr).not.toMatch(/^\s+at /m);
  expect(code).toBe(3);
});
