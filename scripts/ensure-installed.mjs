/**
 * Runs before `npm start`, `npm test` and the like, on whatever Node the host has: installs the locked packages when
 * they are missing or older than the lock file. After it, npm's `node` is the pinned Node 24 of node_modules/.bin.
 */
import { spawnSync } from 'node:child_process';
import { lstatSync, statSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const modifiedMs = (path) =>
  statSync(new URL(`../${path}`, import.meta.url), { throwIfNoEntry: false })?.mtimeMs ?? 0;

const [major] = process.versions.node.split('.');
if (Number(major) < 20) {
  console.error(`Tollgate needs Node 20 or newer to install itself; this is ${process.version}.`);
  process.exit(3);
}

// npm writes this file last, so an interrupted install is repeated.
if (modifiedMs('node_modules/.package-lock.json') < modifiedMs('package-lock.json')) {
  // npm empties what a link points to, which is somebody else's.
  if (lstatSync(`${root}node_modules`, { throwIfNoEntry: false })?.isSymbolicLink()) {
    console.error(
      `${root}node_modules is a link and older than package-lock.json: run npm ci where it points to.`,
    );
    process.exit(3);
  }
  console.error('Installing packages (once) …');
  const npm = process.env.npm_execpath;
  const result = npm
    ? spawnSync(process.execPath, [npm, 'ci', '--no-audit', '--no-fund'], {
        cwd: root,
        stdio: ['ignore', 2, 2],
      })
    : spawnSync('npm', ['ci', '--no-audit', '--no-fund'], {
        cwd: root,
        stdio: ['ignore', 2, 2],
      });
  if (result.status !== 0) {
    console.error('npm ci failed; its message is above. Check that the package registry can be reached.');
    process.exit(result.status ?? 1);
  }
}
