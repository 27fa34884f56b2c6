/**
 * Descriptors for a deployment must be those of its own GitLab. With other field numbers a relay misreads requests, and may send
 * "admitted" for "rejected". `tollgate gitlab descriptors` writes a lock file next to descriptors with their hash and source, and a
 * deployment refuses a file that does not match its lock.
 */
import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { parseSchema, schemaError } from './schema.ts';

const FETCH_REMEDY = "fetch those of your GitLab's version with: tollgate gitlab descriptors --ref v18.9.0";

/**
 * @throws {RelayError} `schema_invalid`: unreadable, incomplete, without an answer that can be encoded, the placeholder, or not
 * the content that its lock names. The message names problem and remedy, not the file.
 */
export function readDeployableDescriptors(file: string) {
  let bytes: Uint8Array;
  try {
    bytes = readFileSync(file);
  } catch (cause) {
    throw schemaError('the file', `cannot be read; ${FETCH_REMEDY}`, cause);
  }
  if (parseSchema(bytes, 'the file').placeholder) {
    const problem = 'is the placeholder of this repository, whose field numbers are made up';
    throw schemaError('the file', `${problem}; ${FETCH_REMEDY}`);
  }
  const sha256 = sha256Of(bytes);
  const lock = readLock(lockOf(file));
  if (lock !== undefined && lock.sha256 !== sha256) {
    const says = `${lockOf(file)} says ${lock.sha256} (from ${lock.source})`;
    throw schemaError('the file', `has SHA-256 ${sha256}, and ${says}: ${LOCK_REMEDY}`);
  }
  return {
    ...{ bytes, sha256, version: lock && versionIn(lock.source) },
    /** An image can hold the descriptors of several deployments, and a relay never finds others than its deployment's. */
    fileName: `${sha256}.binpb`,
  };
}

export interface DescriptorsLock {
  readonly sha256: string;
  readonly source: string;
  readonly sourceSha256?: string;
}

/** The lock of `gitlab.binpb` is `gitlab.lock.json`. */
export const lockOf = (file: string): string => `${file.replace(/\.binpb$/, '')}.lock.json`;

export const sha256Of = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex');

const LOCK_REMEDY =
  'fetch the descriptors again with tollgate gitlab descriptors, or restore both files from git';

function readLock(file: string): Pick<DescriptorsLock, 'sha256' | 'source'> | undefined {
  if (!existsSync(file)) return undefined;
  try {
    const { sha256, source } = JSON.parse(readFileSync(file, 'utf8'));
    if (typeof sha256 === 'string' && typeof source === 'string') return { sha256, source };
  } catch {
    // It is no JSON.
  }
  throw schemaError(file, `is no lock of descriptors: ${LOCK_REMEDY}`);
}

export const versionIn = (source: string): string | undefined =>
  /\bv?(\d{2}\.\d{1,2})(?:\.\d+)?\b/.exec(source)?.[1];
