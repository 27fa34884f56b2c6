import { readFileSync, statSync } from 'node:fs';
import { RelayError } from './relay-error.ts';

/** The controller's token. It is read for every call, so a rotated one is used without a restart. Never logged. */
export interface TokenSource {
  /** @throws {RelayError} `token_unreadable` if no valid token was ever read. */
  read(): string;
  /** Reads the source again with the next call, because the router refused the token. */
  refresh(): void;
}

/** A rotated token is used within a second, and at 1000 calls/s the check costs nothing. */
const CHECK_EVERY_MS = 1_000;
/** GitLab's tokens have some 30 characters. A larger file is not a token. */
const TOKEN_BYTES_MAX = 4_096;
/** Characters that are safe in a header. A line break would let a file write headers. */
const TOKEN = /^[\x21-\x7e]+$/;

/** For a token from the environment. Throws like {@link TokenSource.read}, immediately. */
export function literalToken(text: string): TokenSource {
  const token = checkedToken(text, 'the token given by value');
  return { read: () => token, refresh: () => {} };
}

/**
 * For a token in a file. It is read again when the file's time, size or inode changes. While the new file cannot be read (half
 * written, or its mount is being replaced) the last token stays in use.
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

/** Trims and checks a token. @throws {RelayError} `token_unreadable`, which names the source and never the text. */
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
