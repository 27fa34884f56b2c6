import { GitLabError } from '../gitlab/index.ts';

/**
 * GitLab calls per run of the sync. 400 sequential calls take two minutes at 300 ms each, and stay below
 * GitLab's default rate limits per user (200 listings of groups a minute, 2 000 of projects in ten).
 */
export const CALLS_MAX = 400;
/** The schedule comes every five minutes; Lambda's own time is longer, for what is written at the end. */
const RUN_MS = 150_000;

interface RunBudgetOptions {
  readonly clock: { monotonicMs(): number };
  readonly callsMax?: number;
  readonly runMs?: number;
}

/** Counts calls to GitLab, and ends the asking for all when GitLab fails: what was learned until then is kept. */
export class RunBudget {
  readonly #clock: { monotonicMs(): number };
  readonly #callsMax: number;
  readonly #startMs: number;
  readonly #runMs: number;
  calls = 0;
  failure: GitLabError | undefined;

  constructor({ clock, callsMax = CALLS_MAX, runMs = RUN_MS }: RunBudgetOptions) {
    this.#clock = clock;
    this.#callsMax = callsMax;
    this.#startMs = clock.monotonicMs();
    this.#runMs = runMs;
  }

  /**
   * Undefined: nothing more is to be asked in this run.
   * @param share - of the whole budget that may be spent by then.
   */
  async ask<T>(call: () => Promise<T>, share = 1): Promise<{ readonly answer: T } | undefined> {
    if (this.failure !== undefined || this.calls >= this.#callsMax * share) return undefined;
    if (this.#clock.monotonicMs() - this.#startMs >= this.#runMs * share) return undefined;
    this.calls += 1;
    try {
      return { answer: await call() };
    } catch (error) {
      if (!(error instanceof GitLabError)) throw error;
      this.failure = error;
      return undefined;
    }
  }
}
