/** Running programs: each with its own clock and memory. Between any two of its calls a program may die, or others may go first. */
import type { LedgerClock } from '../../functions/core/environment/environment.ts';
import { createLedger } from '../../functions/core/ledger/create-ledger.ts';
import type { Ledger } from '../../functions/core/ledger/ledger.ts';
import type { InboxStore, LedgerStore } from '../../functions/core/ledger/store.ts';
import { newSweepMemory, type SweepMemory } from '../../functions/sweep/run.ts';
import type { HandClock } from '../../scripts/local/clock.ts';
import { seededRandom } from '../../scripts/local/random.ts';
import type { Parts } from './parts.ts';

/** Orders the steps of concurrent programs by a seed: the same seed, the same order. */
export class Interleaver {
  readonly #waiting: (() => void)[] = [];
  readonly #random: () => number;

  constructor(seed: number) {
    this.#random = seededRandom(seed);
  }

  turn(): Promise<void> {
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  async run(tasks: readonly (() => Promise<unknown>)[]): Promise<void> {
    let over: PromiseSettledResult<unknown>[] | undefined;
    void Promise.allSettled(tasks.map((task) => task())).then((results) => {
      over = results;
    });
    for (;;) {
      // By then every promise that can go on has gone on: nothing here does real input or output.
      await new Promise((resolve) => setImmediate(resolve));
      if (over !== undefined) break;
      if (this.#waiting.length === 0) throw new Error('all tasks wait and none has a turn to take');
      const [next] = this.#waiting.splice(Math.floor(this.#random() * this.#waiting.length), 1);
      next?.();
    }
    const failed = over.find((result) => result.status === 'rejected');
    if (failed !== undefined) throw failed.reason;
  }
}

export interface ProcessOptions {
  readonly interleaver: Interleaver | undefined;
  readonly clock: HandClock;
  readonly store: LedgerStore & InboxStore;
  readonly parts: Parts;
  readonly random: () => number;
  readonly newToken: () => string;
  readonly skewMs: () => number;
}

export class Process {
  readonly clock: LedgerClock;
  readonly ledger: Ledger;
  readonly inbox: InboxStore;
  readonly sweepMemory: SweepMemory = newSweepMemory();
  readonly died: Promise<'died'>;
  readonly #interleaver: Interleaver | undefined;
  #die: (word: 'died') => void = () => {};
  #isDead = false;
  #stepsLeft = Number.POSITIVE_INFINITY;

  constructor({ interleaver, clock, store, parts, random, newToken, skewMs }: ProcessOptions) {
    this.#interleaver = interleaver;
    this.died = new Promise((resolve) => {
      this.#die = resolve;
    });
    this.clock = {
      nowMs: () => clock.nowMs() + skewMs(),
      monotonicMs: () => clock.monotonicMs(),
      sleep: async (ms) => {
        await this.step();
        clock.advance(ms);
      },
    };
    const table = interleaver === undefined ? store : this.#stepped(store);
    this.inbox = table;
    const ledger = createLedger({ store: parts.table(table), clock: this.clock, random, newToken });
    this.ledger = parts.ledger(ledger, this.clock);
  }

  get isAlive(): boolean {
    return !this.#isDead;
  }

  dieAfter(steps: number): void {
    this.#stepsLeft = steps;
  }

  async step(): Promise<void> {
    if (this.#interleaver === undefined) return;
    if (this.#stepsLeft <= 0) {
      this.#isDead = true;
      this.#die('died');
    }
    this.#stepsLeft -= 1;
    if (!this.#isDead) await this.#interleaver.turn();
    if (this.#isDead) await new Promise<never>(() => {});
  }

  #stepped(store: LedgerStore & InboxStore): LedgerStore & InboxStore {
    const between = async <T>(call: () => Promise<T>): Promise<T> => {
      await this.step();
      const answer = call();
      // A program that dies now never receives the answer.
      answer.catch(() => {});
      await this.step();
      return answer;
    };
    return new Proxy(store, {
      get: (target, name) => {
        const value = Reflect.get(target, name);
        if (typeof value !== 'function') return value;
        const call = value.bind(target) as (...asked: unknown[]) => Promise<unknown>;
        return STEPPED.has(name) ? (...asked: unknown[]) => between(() => call(...asked)) : call;
      },
    });
  }
}

const STEPPED: ReadonlySet<string | symbol> = new Set([
  ...['transact', 'readCounters', 'readRecords', 'announce', 'receive'],
]);
