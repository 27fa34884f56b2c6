/**
 * Where descriptors are from, written beside them by `npm run proto:sync` and committed with them: a deployment refuses a file
 * that is not the one that was fetched.
 */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { RelayError } from '../relay-error.ts';

export interface DescriptorsLock {
  /** The descriptors' hash, 64 hex digits. */
  readonly sha256: string;
  /** For people: a tag of GitLab's repository, a folder, an archive or a file. */
  readonly source: string;
  /** The hash of the archive or file they are from. */
  readonly sourceSha256?: string;
}

/** `relay/wire/gitlab.binpb` has `relay/wire/gitlab.lock.json`. */
export const lockOf = (file: string): string => `${file.replace(/\.binpb$/, '')}.lock.json`;

export const sha256Of = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex');

/**
 * @param sha256 - of the content of `file`
 * @throws {RelayError} `schema_invalid`: there is a lock, and it is about other content or unreadable.
 */
export function checkLock(file: string, sha256: string): void {
  const text = readIfThere(lockOf(file));
  if (text === undefined) return;
  const lock = parsed(text);
  if (lock?.sha256 === sha256) return;
  const about =
    lock === undefined
      ? `${lockOf(file)} is no lock of descriptors`
      : `the file has SHA-256 ${sha256}, and ${lockOf(file)} says ${lock.sha256} (from ${lock.source})`;
  throw new RelayError(
    'schema_invalid',
    `${about}: fetch the descriptors again with npm run proto:sync, or restore both files from git`,
  );
}

/** The GitLab that the source of the descriptors in `file` names: `18.9`. Undefined: there is no lock, or it names none. */
export function lockedVersion(file: string): string | undefined {
  const { source = '' } = parsed(readIfThere(lockOf(file)) ?? '') ?? {};
  return /\bv?(\d{2}\.\d{1,2})(?:\.\d+)?\b/.exec(source)?.[1];
}

function readIfThere(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

function parsed(text: string): Pick<DescriptorsLock, 'sha256' | 'source'> | undefined {
  try {
    const { sha256, source } = JSON.parse(text);
    return typeof sha256 === 'string' && typeof source === 'string' ? { sha256, source } : undefined;
  } catch {
    return undefined;
  }
}
