import { RelayError } from '../relay-error.ts';
import { checkedToken, type TokenSource } from '../token.ts';
import { type StartReadingDeps, startReading } from './start-reading.ts';

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
 * A token in a parameter, read now, every ten minutes, and when the router refuses it. While it cannot be read anew the last
 * one stays in use.
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
