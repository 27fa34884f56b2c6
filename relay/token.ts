import { readFileSync, statSync } from 'node:fs';
import type { RelayConfig } from './config.ts';
import type { RelayClock } from './exchange.ts';
import { RelayError } from './relay-error.ts';
import type { TlsFiles } from './router/target.ts';

/** The controller's token. It is read for every call, so a rotated one is used without a restart. Never logged. */
export interface TokenSource {
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
function checkedToken(text: string, where: string): string {
  const token = text.trim();
  if (token === '') throw unreadable(where, 'is empty');
  if (!TOKEN.test(token)) {
    throw unreadable(where, 'holds characters no token has; it must be one line of plain text');
  }
  return token;
}

const unreadable = (where: string, problem: string, options?: ErrorOptions): RelayError =>
  new RelayError('token_unreadable', `${where} ${problem}`, options);

// Reads token, private authority and proxy credentials from files, the environment or SSM parameters.

interface ParameterReading {
  readonly parameter: (name: string) => Promise<string>;
  readonly clock: RelayClock;
  readonly random: () => number;
  readonly failed: (error: unknown) => void;
}

export async function openToken(
  { token, aws: { tokenParameter } }: Pick<RelayConfig, 'token' | 'aws'>,
  reading: ParameterReading,
): Promise<TokenSource> {
  if (tokenParameter !== undefined) return parameterToken(tokenParameter, reading);
  return 'file' in token ? fileToken(token.file) : literalToken(token.value);
}

/** Returns an authority that the relay trusts in addition to the system's. @throws {RelayError} `config_invalid` */
export async function openAuthority(
  { caFile, aws: { caParameter } }: Pick<RelayConfig, 'caFile' | 'aws'>,
  reading: ParameterReading,
): Promise<TlsFiles> {
  if (caParameter === undefined) return caFile === undefined ? {} : { caFile };
  return { caPem: await readSetting(caParameter, reading) };
}

/** Returns `user:password` for the proxy, or undefined if it asks for none. @throws {RelayError} `config_invalid` */
export const openProxyCredentials = async (
  { aws: { proxyParameter } }: Pick<RelayConfig, 'aws'>,
  reading: ParameterReading,
): Promise<string | undefined> =>
  proxyParameter === undefined ? undefined : readSetting(proxyParameter, reading);

const readSetting = (name: string, reading: ParameterReading): Promise<string> =>
  retryAtStart(() => reading.parameter(name), reading).catch((cause: unknown) => {
    throw new RelayError('config_invalid', `parameter ${name} could not be read (${nameOf(cause)})`, {
      cause,
    });
  });

/** The router refuses every stream of a pool together. One read serves them all. */
const REFRESH_EVERY_MS = 5_000;
/** A new token is in use this soon, so the old one may be revoked after it. */
const READ_EVERY_MS = 600_000;

/**
 * Reads a token from a parameter: now, every ten minutes, and when the router refuses it. If a later read fails, the last
 * token stays in use.
 *
 * @throws {RelayError} `token_unreadable` if there is none within two minutes.
 */
export async function parameterToken(name: string, reading: ParameterReading): Promise<TokenSource> {
  const { clock } = reading;
  const read = async (): Promise<string> => checkedToken(await reading.parameter(name), `parameter ${name}`);
  let token = await retryAtStart(read, reading).catch((cause: unknown) => {
    throw unreadableParameter(name, cause);
  });
  let isReading = false;
  let refreshAtMs = Number.NEGATIVE_INFINITY;
  let readAtMs = clock.monotonicMs() + READ_EVERY_MS;
  const refresh = (): void => {
    const nowMs = clock.monotonicMs();
    if (isReading || nowMs < refreshAtMs) return;
    isReading = true;
    refreshAtMs = nowMs + REFRESH_EVERY_MS;
    readAtMs = nowMs + READ_EVERY_MS;
    read()
      .then((found) => {
        token = found;
      }, reading.failed)
      .finally(() => {
        isReading = false;
      });
  };
  return {
    read: () => {
      if (clock.monotonicMs() >= readAtMs) refresh();
      return token;
    },
    refresh,
  };
}

const nameOf = (cause: unknown): string => (cause instanceof Error ? cause.name : 'unknown failure');

const unreadableParameter = (name: string, cause: unknown): RelayError =>
  cause instanceof RelayError
    ? cause
    : unreadable(
        `parameter ${name}`,
        `could not be read (${nameOf(cause)}); check that it exists and that the task's role may read and decrypt it`,
        { cause },
      );

/** A new task may start a moment before its role or network works. After this time its platform should see it fail. */
export const START_MS_MAX = 120_000;
const PAUSE_MS_MIN = 500;
const PAUSE_MS_MAX = 10_000;

/** Retries a read that the relay cannot start without. @throws the last error, after two minutes. */
async function retryAtStart<T>(read: () => Promise<T>, reading: ParameterReading): Promise<T> {
  const { clock, random } = reading;
  const endMs = clock.monotonicMs() + START_MS_MAX;
  for (let attempt = 0; ; attempt += 1) {
    try {
      return await read();
    } catch (error) {
      const pauseMs = Math.min(PAUSE_MS_MAX, PAUSE_MS_MIN * 2 ** attempt) * (0.5 + random() / 2);
      if (clock.monotonicMs() + pauseMs >= endMs) throw error;
      reading.failed(error);
      await new Promise<void>((resume) => clock.after(pauseMs, resume));
    }
  }
}
