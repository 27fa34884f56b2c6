import { mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout } from 'node:timers/promises';

const POLL_MS = 200;
/** An owner that has not written its name by then died in between. */
const NAMELESS_MS_MAX = 5_000;
const WAIT_MS_MAX = 15 * 60_000;

function create(path, text) {
  try {
    writeFileSync(path, text, { flag: 'wx' });
    return true;
  } catch (error) {
    if (error.code === 'EEXIST') return false;
    throw error;
  }
}

/** @returns {{host: string, pids: number[]} | undefined} undefined: not written yet, or gone */
function ownerOf(path) {
  try {
    return JSON.parse(readFileSync(path, 'utf8'));
  } catch {
    return undefined;
  }
}

function runs(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error.code === 'EPERM';
  }
}

const ageMs = (path) => Date.now() - (statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? Date.now());

/** Processes of another machine that shares the folder cannot be looked at: they count as running. */
function isStale(path) {
  const owner = ownerOf(path);
  if (owner !== undefined) return owner.host === hostname() && !owner.pids.some(runs);
  return ageMs(path) > NAMELESS_MS_MAX;
}

/** One process at a time: another may have taken the lock over since it was found stale. */
function removeStale(path) {
  const guard = `${path}.removal`;
  if (create(guard, '')) {
    if (isStale(path)) rmSync(path, { force: true });
    rmSync(guard, { force: true });
  } else if (ageMs(guard) > NAMELESS_MS_MAX) rmSync(guard, { force: true });
}

const write = (pids) => JSON.stringify({ host: hostname(), pids });

/**
 * Waits for other installs here, at most 15 minutes, and keeps others waiting until `release`. A lock of dead processes is taken over.
 *
 * @returns {Promise<{heldFor(pid: number): void, release(): void}>} `heldFor`: the lock lives as long as that process, too
 */
export async function takeInstallLock(root, onWaiting) {
  // Outside node_modules, which npm empties.
  const path = join(root, '.tollgate', 'install.lock');
  mkdirSync(dirname(path), { recursive: true });
  const giveUpAtMs = Date.now() + WAIT_MS_MAX;
  for (let isTold = false; !create(path, write([process.pid])); ) {
    if (isStale(path)) removeStale(path);
    else {
      if (!isTold) onWaiting(ownerOf(path)?.pids[0]);
      isTold = true;
    }
    if (Date.now() > giveUpAtMs)
      throw new Error(`Another install has held ${path} for too long. If none is running, delete that file.`);
    await setTimeout(POLL_MS);
  }
  return {
    heldFor: (pid) => writeFileSync(path, write([process.pid, pid])),
    release: () => rmSync(path, { force: true }),
  };
}
