/** Reads token, private authority and proxy credentials from files, the environment or SSM parameters. */
import type { RelayClock } from '../exchange.ts';
import { RelayError } from '../relay-error.ts';
import type { TlsFiles } from '../router/target.ts';
import type { RelayConfig } from '../settings/config.ts';
import { checkedToken, fileToken, literalToken, type TokenSource } from '../token.ts';

interface ParameterReading {
  readonly parameter: (name: string) => Promise<string>;
  readonly clock: RelayClock;
  readonly random: () => number;
  /** Runs for every failure except the last. */
  readonly failed: (error: unknown) => void;
}

/** @throws {RelayError} `token_unreadable` */
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
    throw unreadable(name, cause);
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

const unreadable = (name: string, cause: unknown): RelayError =>
  cause instanceof RelayError
    ? cause
    : new RelayError(
        'token_unreadable',
        `parameter ${name} could not be read (${nameOf(cause)}); check that it exists and that the task's role may read and decrypt it`,
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
