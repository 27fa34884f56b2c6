import { counterName } from '../../../policies/claim.ts';
import type { Log } from '../environment/index.ts';
import type { Counter } from '../ledger/index.ts';

/** A counter's step from one write to the next; without `before` its first. */
export interface CounterStep {
  readonly before?: Counter;
  readonly after: Counter;
}

/**
 * Called with the steps of a batch's counters, in order. After a failure, the last step of each counter is
 * passed again.
 */
export type OnTransitions = (steps: readonly CounterStep[]) => Promise<unknown>;

/** Counters with unsent alerts; any more wait for the counter's next step. */
const WAITING_MAX = 2_000;

/**
 * Sends threshold alerts independently of the counting of records: a failing topic does not delay usage.
 * Unsent alerts go out with a later batch. Alerts are about levels, so only the last step of a counter is
 * kept; if the process ends, the counter's next step sends it.
 */
export class TellTransitions {
  readonly #onTransitions: OnTransitions;
  readonly #log: Log;
  readonly #waiting = new Map<string, CounterStep>();

  constructor(onTransitions: OnTransitions, log: Log) {
    this.#onTransitions = onTransitions;
    this.#log = log;
  }

  /** Never throws. @returns how many counters still wait. */
  async tell(steps: readonly CounterStep[]): Promise<number> {
    const due = [...this.#waiting.values(), ...steps];
    if (due.length === 0) return 0;
    try {
      await this.#onTransitions(due);
      this.#waiting.clear();
    } catch (error) {
      for (const step of steps) this.#wait(step);
      this.#log.warn('owners not told of thresholds', {
        counters: this.#waiting.size,
        error: error instanceof Error ? error.name : 'unknown',
      });
    }
    return this.#waiting.size;
  }

  #wait(step: CounterStep): void {
    const name = counterName(step.after.key);
    if (this.#waiting.has(name) || this.#waiting.size < WAITING_MAX) this.#waiting.set(name, step);
  }
}
