import { type SpawnOptions, spawn } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, expect, test } from 'vitest';

const SCRIPTS = fileURLToPath(new URL('../../scripts', import.meta.url));
const LATER = new Date('2036-11-22T12:00:00Z');
const ASKED = 'ci --ignore-scripts --no-audit --no-fund\n';
/** Notes what it was asked for, and installs what is locked the way npm leaves it: its own list comes last. */
const NPM = `
const { appendFileSync, copyFileSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } = require('node:fs');
appendFileSync('asked', process.argv.slice(2).join(' ') + '\\n');
if (process.env.NPM_EXITS !== '0') process.exit(Number(process.env.NPM_EXITS));
rmSync('node_modules', { recursive: true, force: true });
const { packages } = JSON.parse(readFileSync('package-lock.json', 'utf8'));
for (const [path, { version }] of Object.entries(packages)) {
  if (path === '' || path === process.env.NPM_LEAVES_OUT) continue;
  mkdirSync(path, { recursive: true });
  writeFileSync(path + '/package.json', JSON.stringify({ version }));
}
const end = () => { copyFileSync('package-lock.json', 'node_modules/.package-lock.json'); process.exit(0); };
if (process.env.NPM_WAITS_FOR === undefined) end();
else setInterval(() => existsSync(process.env.NPM_WAITS_FOR) && end(), 5);
`;

let clone = '';
beforeEach(() => {
  clone = mkdtempSync(join(tmpdir(), 'tollgate-clone-'));
  mkdirSync(join(clone, 'scripts'));
  for (const each of ['ensure-installed.mjs', 'pinned.mjs', 'install'])
    cpSync(join(SCRIPTS, each), join(clone, 'scripts', each), { recursive: true });
  lock('1.0.0');
  writeFileSync(join(clone, 'npm.cjs'), NPM);
  writeFileSync(
    join(clone, 'program.mjs'),
    'if (import.meta.main) console.log(process.argv.slice(2).join());',
  );
});
afterEach(() => rmSync(clone, { recursive: true, force: true }));

function lock(version: string): void {
  const packages = {
    '': {},
    'node_modules/some': { version, integrity: `sha512-${version}` },
    'node_modules/ours': { version, optional: true, os: [process.platform], cpu: [process.arch] },
    'node_modules/foreign': { version, optional: true, os: ['plan9'], cpu: ['mips'] },
  };
  writeFileSync(join(clone, 'package-lock.json'), JSON.stringify({ packages }));
}

const asked = (): string => {
  const note = join(clone, 'asked');
  return existsSync(note) ? readFileSync(note, 'utf8') : '';
};

interface Run {
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

function running(script: string, args: readonly string[] = [], env: NodeJS.ProcessEnv = {}) {
  const options: SpawnOptions = {
    cwd: clone,
    env: { ...process.env, npm_execpath: join(clone, 'npm.cjs'), NPM_EXITS: '0', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  };
  const child = spawn(process.execPath, [join(clone, script), ...args], options);
  let stdout = '';
  let stderr = '';
  child.stdout?.on('data', (text) => {
    stdout += text;
  });
  const said = (words: string): Promise<void> =>
    new Promise((done) => {
      child.stderr?.on('data', (text) => {
        stderr += text;
        if (stderr.includes(words)) done();
      });
    });
  const ended = new Promise<Run>((done) => child.on('close', (status) => done({ status, stdout, stderr })));
  return { child, said, ended };
}

async function ensureInstalled(env: NodeJS.ProcessEnv = {}): Promise<Run> {
  const { said, ended } = running('scripts/ensure-installed.mjs', [], env);
  void said('');
  return ended;
}

test('a fresh clone gets exactly the locked packages, and no package runs a script', async () => {
  expect(await ensureInstalled()).toMatchObject({ status: 0 });
  expect(asked()).toBe(ASKED);
});

test('what is installed is told by the lock file, not by the times of files', async () => {
  await ensureInstalled({ NPM_LEAVES_OUT: 'node_modules/foreign' });
  utimesSync(join(clone, 'package-lock.json'), LATER, LATER);
  expect(await ensureInstalled()).toEqual({ status: 0, stdout: '', stderr: '' });
  expect(asked(), 'nothing to do').toBe(ASKED);
  lock('1.0.1');
  await ensureInstalled();
  expect(asked(), 'another version').toBe(ASKED.repeat(2));
});

test('npm’s own install counts, and one that was broken off is repeated', async () => {
  await ensureInstalled();
  rmSync(join(clone, 'node_modules/.tollgate-installed'), { force: true });
  await ensureInstalled();
  expect(asked()).toBe(ASKED);
  rmSync(join(clone, 'node_modules/.tollgate-installed'));
  rmSync(join(clone, 'node_modules/.package-lock.json'));
  await ensureInstalled();
  expect(asked()).toBe(ASKED.repeat(2));
});

test('of two at once one installs and the other waits for it', async () => {
  const go = join(clone, 'go');
  const first = running('scripts/ensure-installed.mjs', [], { NPM_WAITS_FOR: go });
  await first.said('Installing packages');
  const second = running('scripts/ensure-installed.mjs');
  await second.said('Another install is under way here');
  writeFileSync(go, '');
  expect(await Promise.all([first.ended, second.ended])).toMatchObject([{ status: 0 }, { status: 0 }]);
  expect(asked()).toBe(ASKED);
  expect(existsSync(join(clone, '.tollgate/install.lock'))).toBe(false);
});

test('the lock of an install that was killed is taken over once its npm is gone, too', async () => {
  const go = join(clone, 'go');
  const killed = running('scripts/ensure-installed.mjs', [], { NPM_WAITS_FOR: go });
  await killed.said('Installing packages');
  const file = join(clone, '.tollgate/install.lock');
  // The lock names npm as soon as it runs.
  while (JSON.parse(readFileSync(file, 'utf8')).pids.length < 2)
    await new Promise((done) => setImmediate(done));
  killed.child.kill('SIGKILL');
  const next = running('scripts/ensure-installed.mjs');
  await next.said('Another install is under way here');
  writeFileSync(go, '');
  expect(await next.ended).toMatchObject({ status: 0 });
});

test('a lock whose owner is dead keeps nobody waiting', async () => {
  mkdirSync(join(clone, '.tollgate'));
  const dead = running('program.mjs');
  await dead.ended;
  writeFileSync(
    join(clone, '.tollgate/install.lock'),
    JSON.stringify({ host: hostname(), pids: [dead.child.pid] }),
  );
  expect((await ensureInstalled()).stderr).not.toContain('Another install');
  expect(asked()).toBe(ASKED);
});

test('an install that fails stops the command, with npm’s exit code and what to look at', async () => {
  const { status, stderr } = await ensureInstalled({ NPM_EXITS: '7' });
  expect(status).toBe(7);
  expect(stderr).toContain('Check that the package registry can be reached');
  expect(existsSync(join(clone, '.tollgate/install.lock'))).toBe(false);
});

test('a program is started as the main one, after its packages are there, with its arguments', async () => {
  const { said, ended } = running('scripts/pinned.mjs', ['program.mjs', 'one', 'two']);
  void said('');
  expect(await ended).toMatchObject({ status: 0, stdout: 'one,two\n' });
  expect(asked()).toBe(ASKED);
});
