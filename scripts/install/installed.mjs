import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

function read(...path) {
  try {
    return readFileSync(join(...path), 'utf8');
  } catch (error) {
    if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return undefined;
    throw error;
  }
}

const names = (allowed, value) => [allowed].flat().includes(value);

/** The package for this machine must be there: npm is silent when it cannot fetch one. One for a C library may stay away. */
const mayBeAbsent = ({ optional, devOptional, os, cpu, libc }) =>
  (optional || devOptional) &&
  (libc !== undefined || !names(os, process.platform) || !names(cpu, process.arch));

/** Outlives the install it speaks of only as long as the packages do: npm ci empties the folder. */
const MARK = join('node_modules', '.tollgate-installed');
const markOf = (lock) =>
  createHash('sha256').update(`${process.platform} ${process.arch}\n${lock}`).digest('hex');

/** npm writes its own list into node_modules last, but also when it only changes the lock file: folders are looked at. */
function holdsAll(root, lock) {
  const list = read(root, 'node_modules', '.package-lock.json');
  if (list === undefined) return false;
  const present = JSON.parse(list).packages;
  return Object.entries(JSON.parse(lock).packages ?? {}).every(([path, wanted]) => {
    if (path === '') return true;
    const manifest = read(root, path, 'package.json');
    if (manifest === undefined) return mayBeAbsent(wanted);
    const { integrity } = present?.[path] ?? {};
    return integrity === wanted.integrity && JSON.parse(manifest).version === wanted.version;
  });
}

/** node_modules matches package-lock.json for this platform. Content is compared: a checkout changes file times. */
export function isInstalled(root) {
  const lock = read(root, 'package-lock.json');
  if (lock === undefined) return false;
  const mark = markOf(lock);
  if (read(root, MARK) === mark) return true;
  if (!holdsAll(root, lock)) return false;
  writeFileSync(join(root, MARK), mark);
  return true;
}
