import { chmodSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** A run's folders carry its process id, so that a later run knows those of runs that were killed. */
const NAME = /^tollgate-test-(\d+)-/;

/** Where deployed bundles are built for tests: below the project, where the packages are found that Lambda brings along. */
export const BUNDLES = fileURLToPath(new URL('../../.tollgate/', import.meta.url));

/** The process whose run this is, told by its temporary folder: also in a worker. */
const runPid = (): number => Number(NAME.exec(basename(tmpdir()))?.[1] ?? process.pid);

/** @param pid of the run that removes the folder at its end */
export const newRunFolder = (parent: string, pid = runPid()): string =>
  mkdtempSync(join(parent, `tollgate-test-${pid}-`));

/** Removes what the run of `pid` left in `parent`, and what runs left that are dead. */
function removeRunFolders(parent: string, pid: number): void {
  for (const name of list(parent)) {
    const owner = Number(NAME.exec(name)?.[1]);
    if (owner === pid || (owner > 0 && !runs(owner)))
      rmSync(join(parent, name), { recursive: true, force: true, maxRetries: 5 });
  }
}

function list(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

function runs(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM';
  }
}

/**
 * Gives this process and its children a temporary folder, unless another project of the same run has done so.
 *
 * @returns what removes it, whatever was left in it
 */
export function useRunFolder(): () => void {
  const parent = tmpdir();
  if (NAME.test(basename(parent))) return () => {};
  const { TMPDIR } = process.env;
  const { pid } = process;
  const end = (): void => {
    for (const each of [parent, BUNDLES]) removeRunFolders(each, pid);
  };
  end();
  const folder = newRunFolder(parent, pid);
  // Tests that start a program as nobody let it into a folder of their own in there.
  chmodSync(folder, 0o711);
  process.env.TMPDIR = folder;
  // Also when the run is broken off, and again when all workers are gone: one that is still ending may write once more.
  process.once('exit', end);
  return () => {
    if (TMPDIR === undefined) delete process.env.TMPDIR;
    else process.env.TMPDIR = TMPDIR;
    end();
  };
}
