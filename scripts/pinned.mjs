/**
 * `node scripts/pinned.mjs <program> …`, on any Node of the host: installs the locked packages if they are missing
 * (and says so), then runs the program on the pinned Node. Exit code and signals pass through.
 */
import { spawn } from 'node:child_process';
import { realpathSync } from 'node:fs';
import module from 'node:module';
import { constants } from 'node:os';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import './ensure-installed.mjs';
import { pinnedNode } from './install/pinned-node.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'];

function nodeOrFail() {
  try {
    return pinnedNode(root);
  } catch (error) {
    console.error(error.message);
    process.exit(3);
  }
}

function runBeside(node, program, args) {
  const child = spawn(node, [...process.execArgv, program, ...args], { stdio: 'inherit' });
  for (const signal of SIGNALS) {
    process.on(signal, () => {
      // Ctrl-C reaches the child from the terminal; a second one would end it immediately.
      if (signal !== 'SIGINT' || !process.stdin.isTTY) child.kill(signal);
    });
  }
  child.on('error', (error) => {
    console.error(`${node} cannot be started (${error.code}). Run npm ci in the project's folder.`);
    process.exitCode = 1;
  });
  child.on('exit', (code, signal) => {
    if (signal === null) {
      process.exitCode = code ?? 1;
      return;
    }
    // Ends like the child, so that the parent process sees the signal and not another code.
    for (const each of SIGNALS) process.removeAllListeners(each);
    process.exitCode = 128 + (constants.signals[signal] ?? 0);
    process.kill(process.pid, signal);
  });
}

/** npm's scripts find the pinned Node themselves once it is installed; then there is no second process. */
export async function runPinned(program, args) {
  const path = resolve(program);
  const node = nodeOrFail();
  // Compiled code starts in half the time, also in child processes.
  process.env.NODE_COMPILE_CACHE ??= join(root, 'node_modules/.cache/compiled');
  if (realpathSync(node) !== realpathSync(process.execPath)) return runBeside(node, path, args);
  module.enableCompileCache(process.env.NODE_COMPILE_CACHE);
  process.argv = [process.execPath, path, ...args];
  // As if Node had been started with it: `import.meta.main` is true there.
  module.runMain(path);
}

const [, self, program, ...args] = process.argv;
if (self !== undefined && realpathSync(self) === fileURLToPath(import.meta.url)) {
  if (program === undefined) {
    console.error('node scripts/pinned.mjs <program> …');
    process.exit(3);
  }
  await runPinned(program, args);
}
