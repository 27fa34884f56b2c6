#!/usr/bin/env node
/**
 * `npx tollgate …` from a clone, on whatever Node the host has: installs the locked packages if they are missing (and
 * says so), then runs the commands on the pinned Node. Exit code and signals pass through.
 */
import { spawn } from 'node:child_process';
import { constants } from 'node:os';
import { fileURLToPath } from 'node:url';
import './ensure-installed.mjs';

const node = fileURLToPath(new URL('../node_modules/.bin/node', import.meta.url));
const program = fileURLToPath(new URL('tollgate.ts', import.meta.url));
const child = spawn(node, [program, ...process.argv.slice(2)], { stdio: 'inherit' });

/** What asks a program to stop. A second one from the terminal itself does no harm. */
const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'];
for (const signal of SIGNALS) process.on(signal, () => child.kill(signal));

child.on('error', (error) => {
  console.error(`${node} cannot be started (${error.code}). Run npm ci in the project's folder.`);
  process.exitCode = 1;
});
child.on('exit', (code, signal) => {
  if (signal === null) {
    process.exitCode = code ?? 1;
    return;
  }
  // Ends the way the child ended, so that whoever started us sees the signal and no made-up code.
  for (const each of SIGNALS) process.removeAllListeners(each);
  process.exitCode = 128 + (constants.signals[signal] ?? 0);
  process.kill(process.pid, signal);
});
