/** Asks Parameter Store no faster than the account can bear, and again when it is throttled. */
import type { LedgerClock } from '../core/environment/index.ts';
import { doubling } from '../core/store/index.ts';
import { SsmLimitsError } from './ssm-limits-error.ts';

interface AskingDeps {
  readonly clock: Pick<LedgerClock, 'monotonicMs' | 'sleep'>;
  readonly random: () => number;
  /** On the clock's `monotonicMs`: from then on nothing is asked. */
  readonly endsAtMs: number;
}

/** Asks once and again; undefined: there is no time left. */
export type RetriedAsk = <T>(question: () => Promise<T>) => Promise<T | undefined>;

/** Twenty a second: half of what an account has by default, which its other programs share. */
const PACE_MS = 50;
/** Throttles last seconds; with these tries a question waits for half a minute at most. */
const TRIES_MAX = 8;
/** A random part of it is waited: whoever was throttled together does not come back together. */
const backOffMs = doubling(200, 8_000);

/** @returns a function that throws what the question threw when trying again does not help. */
export function createRetriedAsk({ clock, random, endsAtMs }: AskingDeps): RetriedAsk {
  let notBeforeMs = Number.NEGATIVE_INFINITY;
  return async (question) => {
    for (let tries = 1; ; tries += 1) {
      const waitMs = notBeforeMs - clock.monotonicMs();
      if (waitMs > 0) await clock.sleep(waitMs);
      if (clock.monotonicMs() >= endsAtMs) return undefined;
      notBeforeMs = clock.monotonicMs() + PACE_MS;
      try {
        return await question();
      } catch (error) {
        if (!(error instanceof SsmLimitsError) || !error.retryable || tries === TRIES_MAX) throw error;
        notBeforeMs = clock.monotonicMs() + PACE_MS + random() * backOffMs(tries);
      }
    }
  };
}
