/** Files that a user names: read whole, within a bound of bytes and time, and only if they are text. */
import { closeSync, constants, fstatSync, openSync, readSync, type Stats } from 'node:fs';
import { UsageError } from './command.ts';

/** The documents of the largest instances have some MB. */
const BYTES_MAX = 32 * 1024 * 1024;
/** A pipe that ends no sooner was opened by mistake, or nothing writes into it. */
const WAIT_MS_MAX = 10_000;
const PAUSE_MS = 20;
const CHUNK_BYTES = 64 * 1024;

/** @throws {UsageError} naming the file, the cause and what to do; never quoting it. */
export function readUserFile(file: string, named: string = file): string {
  let bytes: Buffer;
  try {
    bytes = readWhole(file);
  } catch (error) {
    throw new UsageError(`${named}: ${error instanceof NotReadable ? error.message : whyNot(error)}`);
  }
  // A byte that no text has says "binary" before a parser would echo it.
  const zero = bytes.indexOf(0);
  if (zero !== -1)
    throw new UsageError(`${named}: is not text: byte ${zero + 1} is zero; expected UTF-8 text`);
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw new UsageError(`${named}: is not UTF-8 text; save it as UTF-8`);
  }
}

class NotReadable extends Error {}

function readWhole(file: string): Buffer {
  // Opening a pipe that nothing writes into would otherwise wait for ever.
  const handle = openSync(file, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    const stats = fstatSync(handle);
    if (stats.isDirectory()) throw new NotReadable('is a folder; expected a file');
    if (stats.size > BYTES_MAX) throw tooLong();
    return readToEnd(handle, stats);
  } finally {
    closeSync(handle);
  }
}

function readToEnd(handle: number, stats: Stats): Buffer {
  const pieces: Buffer[] = [];
  let bytes = 0;
  const endMs = performance.now() + WAIT_MS_MAX;
  for (;;) {
    const piece = Buffer.allocUnsafe(CHUNK_BYTES);
    const read = readSome(handle, piece);
    const isOver = read === 0 && (bytes > 0 || !stats.isFIFO());
    if (isOver) return Buffer.concat(pieces);
    if (read !== undefined && read > 0) {
      pieces.push(piece.subarray(0, read));
      bytes += read;
      if (bytes > BYTES_MAX) throw tooLong();
      continue;
    }
    if (performance.now() >= endMs)
      throw new NotReadable(
        `gave ${bytes === 0 ? 'nothing' : 'no end'} within ${WAIT_MS_MAX / 1_000} s; expected a file, or a pipe whose writer ends`,
      );
    Atomics.wait(SLEEPER, 0, 0, PAUSE_MS);
  }
}

const SLEEPER = new Int32Array(new SharedArrayBuffer(4));

/** Undefined: there is nothing yet. */
function readSome(handle: number, piece: Buffer): number | undefined {
  try {
    return readSync(handle, piece);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EAGAIN') return undefined;
    throw error;
  }
}

const tooLong = (): NotReadable =>
  new NotReadable(`has more than ${BYTES_MAX / 1024 / 1024} MiB; expected a document`);

function whyNot(error: unknown): string {
  const { code } = error as NodeJS.ErrnoException;
  if (code === 'ENOENT') return 'no such file; check the path';
  if (code === 'EACCES' || code === 'EPERM') return `cannot be read (${code}); check its rights`;
  return `cannot be read (${code ?? 'unknown error'})`;
}
