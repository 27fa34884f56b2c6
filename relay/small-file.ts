import { closeSync, openSync, readSync } from 'node:fs';
import { RelayError } from './relay-error.ts';

/** Five times a system's bundle of authorities, and more than any token. */
const BYTES_MAX = 1024 * 1024;

/** Reads a token or PEM file. @throws {RelayError} `code`, naming the file and never its content. */
export function readSmallFile(file: string, code: 'config_invalid' | 'token_unreadable'): string {
  const bytes = Buffer.alloc(BYTES_MAX + 1);
  let length: number;
  try {
    const handle = openSync(file, 'r');
    try {
      length = readSync(handle, bytes);
    } finally {
      closeSync(handle);
    }
  } catch (cause) {
    throw new RelayError(code, `${file} cannot be read; check the path and its rights`, { cause });
  }
  if (length > BYTES_MAX) throw new RelayError(code, `${file} has more than ${BYTES_MAX} bytes`);
  return bytes.toString('utf8', 0, length);
}
