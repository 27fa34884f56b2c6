import type { RelayConfig } from '../config.ts';
import type { RelayClock } from '../exchange.ts';
import { RelayError } from '../relay-error.ts';
import type { TlsFiles } from '../router/target.ts';
import { checkedToken, fileToken, literalToken, type TokenSource } from '../token.ts';
import type { AwsServices } from './aws-services.ts';

type SecretsDeps = StartReadingDeps & Pick<AwsServices, 'parameter'>;

/** The token from wherever it is kept. @throws {RelayError} `token_unreadable` */
export async function openToken(
  { token, aws }: Pick<RelayConfig, 'token' | 'aws'>,
  deps: SecretsDeps,
): Promise<TokenSource> {
  const name = aws.tokenParameter;
  if (name !== undefined) return parameterToken({ ...deps, name, load: () => deps.parameter(name) });
  return 'file' in token ? fileToken(token.file) : literalToken(token.value);
}

/** Whom to trust besides the system's authorities. @throws {RelayError} `config_invalid` */
export async function openAuthority(
  { caFile, aws }: Pick<RelayConfig, 'caFile' | 'aws'>,
  deps: SecretsDeps,
): Promise<TlsFiles> {
  const name = aws.caParameter;
  if (name === undefined) return caFile === undefined ? {} : { caFile };
  return { caPem: await readSetting(name, deps) };
}

/** `user:password` for the proxy; undefined: it wants none. @throws {RelayError} `config_invalid` */
export const openProxyCredentials = async (
  { aws: { proxyParameter } }: Pick<RelayConfig, 'aws'>,
  deps: SecretsDeps,
): Promise<string | undefined> =>
  proxyParameter === undefined ? undefined : readSetting(proxyParameter, deps);

const readSetting = (name: string, deps: SecretsDeps): Promise<string> =>
  startReading(() => deps.parameter(name), deps).catch((cause: unknown) => {
    const why = cause instanceof Error ? cause.name : 'unknown failure';
    throw new RelayError('config_invalid', `parameter ${name} could not be read (${why})`, { cause });
  });

interface ParameterTokenDeps extends StartReadingDeps {
  /** Name of the parameter. */
  readonly name: string;
  /** Reads its text. */
  readonly load: () => Promise<string>;
}

/** The router refuses every stream of a pool at once; one look serves them all. */
const LOOK_EVERY_MS = 5_000;
/** A token that was put beside a valid one is in use this soon, so that the valid one may be revoked after it. */
const READ_EVERY_MS = 600_000;

/**
 * A token in a parameter, read now, every ten minutes, and when the router refuses it. While it cannot be read anew the last one stays
 * in use.
 *
 * @throws {RelayError} `token_unreadable` if there is none within two minutes.
 */
export async function parameterToken(deps: ParameterTokenDeps): Promise<TokenSource> {
  const { name, load, clock } = deps;
  const read = async (): Promise<string> => checkedToken(await load(), `parameter ${name}`);
  let token = await startReading(read, deps).catch((cause: unknown) => {
    throw unreadable(name, cause);
  });
  let looking = false;
  let lookAgainAtMs = Number.NEGATIVE_INFINITY;
  let readAgainAtMs = clock.monotonicMs() + READ_EVERY_MS;
  const look = (): void => {
    if (looking || clock.monotonicMs() < lookAgainAtMs) return;
    looking = true;
    lookAgainAtMs = clock.monotonicMs() + LOOK_EVERY_MS;
    readAgainAtMs = clock.monotonicMs() + READ_EVERY_MS;
    read()
      .then((found) => {
        token = found;
      }, deps.failed)
      .finally(() => {
        looking = false;
      });
  };
  return {
    read: () => {
      if (clock.monotonicMs() >= readAgainAtMs) look();
      return token;
    },
    refresh: look,
  };
}

const unreadable = (name: string, cause: unknown): RelayError =>
  cause instanceof RelayError
    ? cause
    : new RelayError(
        'token_unreadable',
        `parameter ${name} could not be read (${cause instanceof Error ? cause.name : 'unknown failure'}); check that it exists and that the task's role may read and decrypt it`,
        { cause },
      );

interface StartReadingDeps {
  readonly clock: RelayClock;
  readonly random: () => number;
  /** Told of every failure but the last. */
  readonly failed: (error: unknown) => void;
}

/** A task that starts often meets a role or a network a moment before they work; after this its platform should know. */
export const START_MS_MAX = 120_000;
const PAUSE_MS_MIN = 500;
const PAUSE_MS_MAX = 10_000;

/**
 * Reads what the relay cannot start without, again and again for two minutes.
 *
 * @throws what the last read threw.
 */
async function startReading<T>(read: () => Promise<T>, deps: StartReadingDeps): Promise<T> {
  const { clock, random } = deps;
  const endMs = clock.monotonicMs() + START_MS_MAX;
  for (let attempt = 0; ; attempt += 1) {
    try {
      return await read();
    } catch (error) {
      const pauseMs = Math.min(PAUSE_MS_MAX, PAUSE_MS_MIN * 2 ** attempt) * (0.5 + random() / 2);
      if (clock.monotonicMs() + pauseMs >= endMs) throw error;
      deps.failed(error);
      await new Promise<void>((resume) => clock.after(pauseMs, resume));
    }
  }
}
