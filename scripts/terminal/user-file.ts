/** Files that a user names, and the sentences about them: the file, the cause and the remedy. Contents are never quoted. */
import { closeSync, constants, fstatSync, mkdirSync, openSync, readSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { UsageError } from './command.ts';

export const STANDARD_INPUT = 0;

const BYTES_MAX = 16 * 1024 * 1024;
const PAUSE_MS = 20;
/** A pipe that is silent for longer was named by mistake, or has no writer. */
const SILENCE_MS_MAX = 10_000;
const CHUNK_BYTES = 64 * 1024;

/** @param named - the file in errors. @throws {UsageError} for a file that is missing, a folder, unreadable, silent, too large or binary. */
export function readUserFile(
  file: string | typeof STANDARD_INPUT,
  named = String(file),
  bytesMax = BYTES_MAX,
): string {
  const bytes = readUserBytes(file, named, bytesMax);
  // A parser would quote what it does not understand.
  const zero = bytes.indexOf(0);
  if (zero !== -1)
    throw new UsageError(`${named}: is not text: byte ${zero + 1} is zero; expected UTF-8 text`);
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw new UsageError(`${named}: is not UTF-8 text; save it as UTF-8`);
  }
}

export function readUserFileIfThere(file: string, named = file, bytesMax = BYTES_MAX): string | undefined {
  try {
    return readUserFile(file, named, bytesMax);
  } catch (error) {
    if (error instanceof UsageError && codeOf(error.cause) === 'ENOENT') return undefined;
    throw error;
  }
}

export function readUserBytes(
  file: string | typeof STANDARD_INPUT,
  named = String(file),
  bytesMax = BYTES_MAX,
): Buffer<ArrayBuffer> {
  const pieces: Buffer[] = [];
  let bytes = 0;
  for (const piece of streamUserFile(file, named)) {
    pieces.push(piece);
    bytes += piece.length;
    if (bytes > bytesMax)
      throw new UsageError(`${named}: has more than ${bytesMax / 1024 / 1024} MiB; expected a smaller file`);
  }
  return Buffer.concat(pieces);
}

/** Reads a file of any size. @throws {UsageError} for a file that is missing, a folder, unreadable or silent. */
export function* streamUserFile(
  file: string | typeof STANDARD_INPUT,
  named = String(file),
): Generator<Buffer> {
  const isNamed = file !== STANDARD_INPUT;
  try {
    // Opening a pipe without a writer would otherwise block.
    const handle = isNamed ? openSync(file, constants.O_RDONLY | constants.O_NONBLOCK) : STANDARD_INPUT;
    try {
      const stats = fstatSync(handle);
      if (stats.isDirectory()) throw new UsageError(`${named}: is a folder; expected a file`);
      // A named pipe ends before its first writer comes.
      let hasBegun = !isNamed || !stats.isFIFO();
      let heardAtMs = performance.now();
      for (;;) {
        const piece = Buffer.allocUnsafe(CHUNK_BYTES);
        const read = readSome(handle, piece);
        if (read > 0) {
          yield piece.subarray(0, read);
          hasBegun = true;
          heardAtMs = performance.now();
        } else if (read === 0 && hasBegun) return;
        else if (performance.now() - heardAtMs < SILENCE_MS_MAX) Atomics.wait(SLEEPER, 0, 0, PAUSE_MS);
        else
          throw new UsageError(
            `${named}: gave nothing for ${SILENCE_MS_MAX / 1_000} s; expected a file, or a pipe whose writer ends`,
          );
      }
    } finally {
      if (isNamed) closeSync(handle);
    }
  } catch (error) {
    if (error instanceof UsageError) throw error;
    throw new UsageError(`${named}: cannot be read: ${systemCause(error)}`, { cause: error });
  }
}

const SLEEPER = new Int32Array(new SharedArrayBuffer(4));

function readSome(handle: number, piece: Buffer): number {
  try {
    return readSync(handle, piece);
  } catch (error) {
    if (codeOf(error) === 'EAGAIN') return -1;
    throw error;
  }
}

export function writeUserFile(file: string, text: string, named = file, flag: 'w' | 'wx' = 'w'): void {
  try {
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text, { flag });
  } catch (error) {
    throw new UsageError(`${named}: cannot be written: ${systemCause(error)}`, { cause: error });
  }
}

/** Errors of the operating system about files, ports and streams, in words: cause and remedy. */
const WORDS: Readonly<Record<string, readonly [cause: string, remedy: string]>> = {
  ENOENT: ['there is no such file or folder', 'check the path'],
  ENOTDIR: ['a part of its path is a file', 'check the path'],
  EISDIR: ['it is a folder', 'name a file in it'],
  EEXIST: ['it is there already', 'name another one, or remove it'],
  EACCES: ['permission is missing', 'check its rights and those of its folder'],
  EPERM: ['the system forbids it', 'check its rights and those of its folder'],
  EROFS: ['its file system is read-only', 'use a folder that can be written'],
  ENOSPC: ['no space is left', 'free space, or write elsewhere'],
  EDQUOT: ['the quota is used up', 'free space, or write elsewhere'],
  EIO: ['the device fails', 'check the file and its disk'],
  EMFILE: ['too many files are open', 'raise the limit of open files (ulimit -n)'],
  EADDRINUSE: ['another program listens there', 'end it, or choose another port'],
  EADDRNOTAVAIL: ['this machine does not have the address', 'choose another address'],
};

export function systemCause(error: unknown): string {
  const code = codeOf(error) ?? 'unknown error';
  const [cause, remedy] = WORDS[code] ?? ['the system refuses', 'check the path and its rights'];
  return `${cause} (${code}); ${remedy}`;
}

export function systemFailure(error: unknown): string | undefined {
  const code = codeOf(error);
  if (code === undefined || WORDS[code] === undefined) return undefined;
  const { syscall, path, address, port } = error as NodeJS.ErrnoException & {
    address?: string;
    port?: number;
  };
  if (port !== undefined) return `${address}:${port}: ${syscall} failed: ${systemCause(error)}`;
  return path === undefined ? undefined : `${path}: ${syscall} failed: ${systemCause(error)}`;
}

export const codeOf = (error: unknown): string | undefined =>
  error instanceof Error && 'code' in error ? String(error.code) : undefined;

/** `/home/me/clone/policies/policy.yaml:3:1 …` from `/home/me/clone` → `policies/policy.yaml:3:1 …`. */
export const shortPath = (text: string, cwd: string): string => {
  const folder = cwd.endsWith('/') ? cwd : `${cwd}/`;
  return text.startsWith(folder) ? text.slice(folder.length) : text;
};
