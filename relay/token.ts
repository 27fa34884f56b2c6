import { withoutAbsent } from '../policies/without-absent.ts';
import type { RelayConfig } from './config.ts';
import { nameOf } from './events.ts';
import { pauseMs, type RelayClock } from './exchange.ts';
import { RelayError } from './relay-error.ts';
import { readSecretFile, type TlsFiles } from './router/target.ts';

/** The controller's token. It is read for every call, so a rotated one is used without a restart. Never logged. */
export interface TokenSource {
  read(): string;
  refresh(): void;
}

const READ_FILE_EVERY_MS = 1_000;
const TOKEN_CHARACTERS_MAX = 4_096;
/** Characters that are safe in a header. A line break would let a file write headers. */
const TOKEN = /^[\x21-\x7e]+$/;

export function literalToken(text: string): TokenSource {
  const token = checkedToken(text, 'the token given by value');
  return { read: () => token, refresh: () => {} };
}

/**
 * For a token in a file, which is read again every second. While the file cannot be read (half written, or its mount is being
 * replaced) the last token stays in use.
 */
export function fileToken(path: string, monotonicMs: () => number = () => performance.now()): TokenSource {
  let token: string | undefined;
  let readAgainAtMs = Number.NEGATIVE_INFINITY;
  return {
    read() {
      const nowMs = monotonicMs();
      if (token !== undefined && nowMs < readAgainAtMs) return token;
      readAgainAtMs = nowMs + READ_FILE_EVERY_MS;
      try {
        token = checkedToken(readSecretFile(path, 'token_unreadable'), path);
      } catch (error) {
        if (token === undefined) throw error;
      }
      return token;
    },
    refresh() {
      readAgainAtMs = Number.NEGATIVE_INFINITY;
    },
  };
}

/** Trims and checks a token. @throws {RelayError} `token_unreadable`, which names the source and never the text. */
function checkedToken(text: string, where: string): string {
  const token = text.trim();
  if (token === '') throw unreadable(where, 'is empty');
  if (token.length > TOKEN_CHARACTERS_MAX) throw unreadable(where, 'is too long for a token');
  if (!TOKEN.test(token))
    throw unreadable(where, 'holds characters no token has; it must be one line of plain text');
  return token;
}

const unreadable = (where: string, problem: string, options?: ErrorOptions): RelayError =>
  new RelayError('token_unreadable', `${where} ${problem}`, options);

interface ParameterReading {
  readonly parameter: (name: string) => Promise<string>;
  readonly clock: RelayClock;
  readonly random: () => number;
  readonly failed: (error: unknown) => void;
}

export async function openSecrets({ token, caFile, aws }: RelayConfig, reading: ParameterReading) {
  const { tokenParameter, caParameter, proxyParameter } = aws;
  const ownToken = () => ('file' in token ? fileToken(token.file) : literalToken(token.value));
  const [source, caPem, proxyCredentials] = await Promise.all([
    tokenParameter === undefined ? ownToken() : parameterToken(tokenParameter, reading),
    caParameter && readSetting(caParameter, reading),
    proxyParameter && readSetting(proxyParameter, reading),
  ]);
  const tls = withoutAbsent({ caPem, caFile }) as TlsFiles;
  return { token: source, tls, proxyCredentials };
}

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
    if (cause instanceof RelayError) throw cause;
    const problem = `could not be read (${nameOf(cause)}); check that it exists and that the task's role may read and decrypt it`;
    throw unreadable(`parameter ${name}`, problem, { cause });
  });
  let readAtMs = clock.monotonicMs();
  let refreshedAtMs = Number.NEGATIVE_INFINITY;
  const readAgain = (nowMs: number): void => {
    readAtMs = nowMs;
    read().then((found) => {
      token = found;
    }, reading.failed);
  };
  return {
    read: () => {
      const nowMs = clock.monotonicMs();
      if (nowMs >= readAtMs + READ_EVERY_MS) readAgain(nowMs);
      return token;
    },
    refresh: () => {
      const nowMs = clock.monotonicMs();
      if (nowMs < refreshedAtMs + REFRESH_EVERY_MS) return;
      refreshedAtMs = nowMs;
      readAgain(nowMs);
    },
  };
}

/** A new task may start a moment before its role or network works. After this time its platform should see it fail. */
export const START_MS_MAX = 120_000;
const PAUSE_MS_MIN = 500;
const PAUSE_MS_MAX = 10_000;

async function retryAtStart<T>(read: () => Promise<T>, reading: ParameterReading): Promise<T> {
  const { clock, random } = reading;
  const endMs = clock.monotonicMs() + START_MS_MAX;
  for (let attempt = 0; ; attempt += 1) {
    try {
      return await read();
    } catch (error) {
      const delayMs = pauseMs(attempt, PAUSE_MS_MIN, PAUSE_MS_MAX, random());
      if (clock.monotonicMs() + delayMs >= endMs) throw error;
      reading.failed(error);
      await new Promise<void>((resume) => clock.after(delayMs, resume));
    }
  }
}
