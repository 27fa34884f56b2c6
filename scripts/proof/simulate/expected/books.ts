/** What every job must count on every counter. Told of each step a job takes, it keeps the sums by itself. */
import type { AskedJob, ExpectedAsk } from './asked-claims.ts';
import { costOf } from './edition.ts';
import { type CounterSums, NO_SUMS } from './verdict.ts';

export type ExpectedState = 'HELD' | 'SETTLED' | 'RELEASED' | 'EXPIRED' | 'REJECTED';
export type ExpectedUncheckedCause = 'exempt' | 'unmetered' | 'bypass';

/** A job under one decision. */
export interface ExpectedJob {
  readonly job: AskedJob;
  readonly generation: number;
  readonly state: ExpectedState;
  readonly ask: ExpectedAsk;
  /** Same order as the claims, like all lists below. */
  readonly fitted: readonly boolean[];
  readonly checked: readonly boolean[];
  readonly held: readonly number[];
  readonly counted: readonly number[];
  readonly uncheckedBy?: ExpectedUncheckedCause;
  readonly refusedBy: readonly string[];
  /** What it is charged for. */
  readonly seconds: number;
}

/** A rejection stands for a minute; whatever runs, or has run, stands for good. */
const REJECTION_STANDS_MS = 60_000;

export const stands = ({ state, ask }: ExpectedJob, atMs: number): boolean =>
  state === 'HELD' || state === 'SETTLED' || (state === 'REJECTED' && atMs - ask.atMs < REJECTION_STANDS_MS);

/** The end of a live job: charged for what it ran, at the price of its admission; a job that never ran for nothing. */
export function endedAs(
  live: ExpectedJob,
  state: 'SETTLED' | 'RELEASED' | 'EXPIRED',
  ranSeconds: number,
): ExpectedJob {
  const seconds = state === 'SETTLED' ? Math.ceil(ranSeconds) : 0;
  const counted = live.ask.claims.map(({ unit }) => {
    if (state !== 'SETTLED' || unit === 'jobs') return 0;
    if (unit === 'micros') return costOf(seconds, live.ask.microsPerMinute);
    return unit === 'seconds' ? seconds : 1;
  });
  return { ...live, state, counted, seconds };
}

export class ExpectedBooks {
  readonly jobs = new Map<number, ExpectedJob>();
  readonly #counters = new Map<string, { -readonly [Sum in keyof CounterSums]: number }>();

  /** The job as it is from now on; what it counted before is taken back. */
  put(after: ExpectedJob): void {
    const { jobId } = after.job;
    const before = this.jobs.get(jobId);
    if (before !== undefined) this.#add(before, -1);
    this.#add(after, 1);
    this.jobs.set(jobId, after);
  }

  shows(counter: string): CounterSums {
    return this.#counters.get(counter) ?? NO_SUMS;
  }

  #add({ ask, state, counted, fitted, checked, uncheckedBy }: ExpectedJob, sign: 1 | -1): void {
    ask.claims.forEach(({ counter }, index) => {
      const amount = sign * (counted[index] ?? 0);
      if (amount === 0) return;
      let sums = this.#counters.get(counter);
      if (sums === undefined) {
        sums = { ...NO_SUMS };
        this.#counters.set(counter, sums);
      }
      sums.committed += amount;
      if (fitted[index] === true) sums.fitted += amount;
      if (state === 'SETTLED') sums.settled += amount;
      if (checked[index] !== true && uncheckedBy !== undefined) sums[uncheckedBy] += amount;
    });
  }
}
