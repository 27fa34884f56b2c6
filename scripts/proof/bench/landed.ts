import { execFileSync } from 'node:child_process';
import { cpSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const OWN_CODE = fileURLToPath(new URL('../../..', import.meta.url));
const BENCH = 'scripts/proof/bench';
const ARCHIVE_BYTES_MAX = 2 ** 30;

const git = (...args: readonly string[]): string =>
  execFileSync('git', args, { cwd: OWN_CODE, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim();

/** Returns undefined if this clone lacks the commit, as a shallow one does. */
function commitOf(revision: string): string | undefined {
  try {
    return git('rev-parse', '--verify', '--end-of-options', `${revision}^{commit}`);
  } catch {
    return undefined;
  }
}

/** Returns the newest commit of main. On main itself, that is the one before, unless there are changes to commit. */
export function landedCommit(): string | undefined {
  const landed = commitOf('origin/main') ?? commitOf('main');
  const isOnMain = landed === commitOf('HEAD') && git('status', '--porcelain') === '';
  return landed === undefined || isOnMain ? commitOf('HEAD^') : landed;
}

/** Writes the files of a commit into a folder, or only those of some paths. */
export function extractCommit(commit: string, folder: string, ...paths: readonly string[]): void {
  const options = { cwd: OWN_CODE, maxBuffer: ARCHIVE_BYTES_MAX };
  const input = execFileSync('git', ['archive', commit, ...paths], options);
  execFileSync('tar', ['-xC', folder], { input });
}

/** Runs `measure` with a folder of that revision's code, on the same packages and with the bench of this code. */
export async function withCodeOf<T>(revision: string, measure: (folder: string) => Promise<T>): Promise<T> {
  const commit = commitOf(revision);
  if (commit === undefined) throw new Error(`this clone lacks commit ${revision}`);
  const code = mkdtempSync(join(tmpdir(), 'tollgate-landed-'));
  try {
    extractCommit(commit, code);
    rmSync(join(code, BENCH), { recursive: true, force: true });
    cpSync(join(OWN_CODE, BENCH), join(code, BENCH), { recursive: true });
    symlinkSync(join(OWN_CODE, 'node_modules'), join(code, 'node_modules'));
    return await measure(code);
  } finally {
    rmSync(code, { recursive: true });
  }
}
