/** Programs whose output cannot be written: a full disk, a reader that left, a folder that takes no files, a port in use. */
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
const PROGRAMS = {
  tollgate: 'scripts/cli/tollgate.ts',
  start: 'scripts/local/start.ts',
  gitlab: 'scripts/local/gitlab/main.ts',
} as const;
type Program = keyof typeof PROGRAMS;

interface Ended {
  readonly code: number | null;
  readonly stderr: string;
}

/** @param stdout - a redirection of the shell; `| left` is a pipe whose reader leaves first. */
function run(program: Program, args: readonly string[], stdout: string, root = ROOT): Promise<Ended> {
  const file = join(root, PROGRAMS[program]);
  const redirection = stdout === '| left' ? '' : stdout;
  const command = `exec "$0" "$@" ${redirection}`;
  const child = spawn(
    'sh',
    ['-c', command, process.execPath, '--preserve-symlinks', '--preserve-symlinks-main', file, ...args],
    { stdio: ['ignore', 'pipe', 'pipe'], env: { ...process.env, NO_COLOR: '1' } },
  );
  onTestFinished(() => void child.kill('SIGKILL'));
  let stderr = '';
  child.stderr.on('data', (piece) => {
    stderr += String(piece);
  });
  if (stdout === '| left') child.stdout.destroy();
  else child.stdout.resume();
  return new Promise((resolve) => child.once('close', (code) => resolve({ code, stderr })));
}

const JOBS = ['--jobs', '3', '--rate', '100'];
test.each([
  ['tollgate', ['--version']],
  ['start', ['--memory', ...JOBS]],
] as const)('%s %j: a full stdout is one line on stderr and a failure', async (program, args) => {
  const { code, stderr } = await run(program, args, '> /dev/full');
  expect(stderr).toBe('stdout: no space is left (ENOSPC); free space, or write elsewhere\n');
  expect(code).toBe(1);
});
test.each(['>&-', '| left'])('a stdout that is closed (%s) ends a command quietly', async (stdout) => {
  expect(await run('tollgate', ['--version'], stdout)).toEqual({ code: 0, stderr: '' });
});

/** The project's folder, with a `.tollgate` that takes no files, whoever runs this. */
function readOnlyProject(target: string): string {
  const root = mkdtempSync(join(tmpdir(), 'read-only-'));
  onTestFinished(() => rmSync(root, { recursive: true }));
  for (const name of ['functions', 'node_modules', 'package.json', 'policies', 'relay', 'scripts'])
    symlinkSync(join(ROOT, name), join(root, name));
  symlinkSync(target, join(root, '.tollgate'));
  return root;
}
const ONE_LINE = /^[^\n]+\n(?:See: [^\n]+\n)?$/;

test('npm start names the folder that takes no files, the cause and the remedy', async () => {
  const { code, stderr } = await run('start', JOBS, '', readOnlyProject('/sys'));
  expect(stderr).toMatch(/\.tollgate\/ledger: cannot keep a ledger: the system forbids it \(EPERM\)/);
  expect(stderr).toMatch(/, or say --memory/);
  expect(stderr).toMatch(ONE_LINE);
  expect(code).toBe(3);
});

test('npm run gitlab:local at a port in use names the address, the cause and the remedy', async () => {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  const { port } = server.address() as AddressInfo;
  const { code, stderr } = await run('gitlab', ['--port', String(port)], '', readOnlyProject('/sys'));
  expect(stderr).toBe(
    `127.0.0.1:${port}: listen failed: another program listens there (EADDRINUSE); end it, or choose another port\n`,
  );
  expect(code).toBe(1);
});

test('tollgate names the file that cannot be written', async () => {
  const { code, stderr } = await run('tollgate', ['policy', 'test', '--junit', '/sys/report'], '');
  expect(stderr).toMatch(/"\/sys\/report": cannot be written: .+ \(E\w+\); check/);
  expect(stderr).toMatch(ONE_LINE);
  expect(code).toBe(3);
});
