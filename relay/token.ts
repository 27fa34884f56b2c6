import { readFileSync, statSync } from 'node:fs';
import { RelayError } from './relay-error.ts';

/** The controller's token, read for every call so that a rotated one is used without a restart. Never logged. */
export interface TokenSource {
  /** @throws {RelayError} `token_unreadable`: there is none and never was a good one. */
  read(): string;
  /** The router refused the token: read the source again with the next call. */
  refresh(): void;
}

/** Between looks at the file: a rotated token is used within a second, at 1000 calls/s the file costs nothing. */
const CHECK_EVERY_MS = 1_000;
/** GitLab's tokens have some 30 characters; more than this is another file. */
const TOKEN_BYTES_MAX = 4_096;
/** What may stand in a header: a line break inside would let a file write headers. */
const TOKEN = /^[\x21-\x7e]+$/;

/** A token given by value, e.g. from the environment. Throws like {@link TokenSource.read}, immediately. */
export function literalToken(text: string): TokenSource {
  const token = checkedToken(text, 'the token given by value');
  return { read: () => token, refresh: () => {} };
}

/**
 * A token in a file: read again when the file's time, size or inode changes. While a new file is unreadable (caught
 * half written, or its mount is being swapped) the last good token stays in use.
 */
export function fileToken(path: string, monotonicMs: () => number = () => performance.now()): TokenSource {
  let token: string | undefined;
  let stamp = '';
  let lookAgainAtMs = Number.NEGATIVE_INFINITY;
  const look = (): void => {
    try {
      const { mtimeMs, size, ino } = statSync(path);
      const found = `${mtimeMs}/${size}/${ino}`;
      if (found === stamp) return;
      if (size > TOKEN_BYTES_MAX) {
        throw unreadable(path, `has ${size} bytes; a token file holds one line`);
      }
      token = checkedToken(readFileSync(path, 'utf8'), path);
      stamp = found;
    } catch (cause) {
      if (token !== undefined) return;
      throw cause instanceof RelayError
        ? cause
        : unreadable(path, 'cannot be read; check the path and its rights', {
            cause,
          });
    }
  };
  return {
    read() {
      const nowMs = monotonicMs();
      if (token === undefined || nowMs >= lookAgainAtMs) {
        look();
        lookAgainAtMs = nowMs + CHECK_EVERY_MS;
      }
      // look() throws while there is no token.
      return token ?? '';
    },
    refresh() {
      stamp = '';
      lookAgainAtMs = Number.NEGATIVE_INFINITY;
    },
  };
}

/** The token in a text. @throws {RelayError} `token_unreadable`, naming the place and never the text. */
export function checkedToken(text: string, where: string): string {
  const token = text.trim();
  if (token === '') throw unreadable(where, 'is empty');
  if (!TOKEN.test(token)) {
    throw unreadable(where, 'holds characters no token has; it must be one line of plain text');
  }
  return token;
}

const unreadable = (where: string, problem: string, options?: ErrorOptions): RelayError =>
  new RelayError('token_unreadable', `${where} ${problem}`, options);
