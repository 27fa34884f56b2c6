/**
 * Runs before everything that `npm start`, `npm test` and the like do, on any Node of the host: installs the locked
 * packages if they differ from package-lock.json, without install scripts. It waits for an install by another process.
 */
import { spawn } from 'node:child_process';
import { lstatSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { takeInstallLock } from './install/install-lock.mjs';
import { isInstalled } from './install/installed.mjs';
import { dropUnusable } from './install/pinned-node.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const ARGUMENTS = ['ci', '--ignore-scripts', '--no-audit', '--no-fund'];
const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'];

function fail(message, code) {
  console.error(message);
  process.exit(code);
}

/** @returns {Promise<number>} npm's exit code */
function npmCi(lock) {
  const options = { cwd: root, stdio: ['ignore', 2, 2] };
  const npm = process.env.npm_execpath;
  const child =
    npm === undefined
      ? spawn('npm', ARGUMENTS, { ...options, shell: process.platform === 'win32' })
      : spawn(process.execPath, [npm, ...ARGUMENTS], options);
  if (child.pid !== undefined) lock.heldFor(child.pid);
  const stop = (signal) => child.kill(signal);
  for (const signal of SIGNALS) process.on(signal, stop);
  return new Promise((done) => {
    child.once('error', () => done(1));
    child.once('exit', (code) => done(code ?? 1));
  }).finally(() => {
    for (const signal of SIGNALS) process.off(signal, stop);
  });
}

async function install() {
  // npm empties what a link points to, which belongs to another folder.
  if (lstatSync(join(root, 'node_modules'), { throwIfNoEntry: false })?.isSymbolicLink()) {
    fail(
      `${root}node_modules is a link and lacks packages of package-lock.json: run npm ci where it points to.`,
      3,
    );
  }
  const lock = await takeInstallLock(root, (pid) =>
    console.error(`Another install is under way here (process ${pid ?? 'unknown'}); waiting for it …`),
  ).catch((error) => fail(error.message, 3));
  let code = 0;
  try {
    if (!isInstalled(root)) {
      console.error('Installing packages (once) …');
      code = await npmCi(lock);
      if (code === 0) dropUnusable(root);
    }
  } finally {
    lock.release();
  }
  if (code !== 0)
    fail('npm ci failed; its message is above. Check that the package registry can be reached.', code);
}

if (Number(process.versions.node.split('.')[0]) < 20)
  fail(`Tollgate needs Node 20 or newer to install itself; this is ${process.version}.`, 3);
if (!isInstalled(root)) await install();
