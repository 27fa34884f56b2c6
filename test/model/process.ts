/** One running program: its own clock, its own memory, and at any step between two of its calls it may be gone. */

import type { LedgerClock } from '../../functions/core/environment/environment.ts';
import { createLedger } from '../../functions/core/ledger/create-ledger.ts';
import type { Ledger } from '../../functions/core/ledger/ledger.ts';
import type { MemoryStore } from '../../functions/core/ledger/memory-store.ts';
import type { InboxStore, LedgerStore } from '../../functions/core/ledger/store.ts';
import { newSweepMemory, type SweepMemory } from '../../functions/sweep/run.ts';
import type { Interleaver } from './interleaver.ts';

export interface TrueTime {
  nowMs(): number;
  passedMs(): number;
  pass(ms: number): void;
}

export interface ProcessDeps {
  readonly interleaver: Interleaver;
  readonly time: TrueTime;
  readonly store: MemoryStore;
  readonly random: () => number;
  readonly newToken: () => string;
  /** How far its host's clock is off, milliseconds. */
  readonly skewMs: () => number;
}

export class Process {
  readonly clock: LedgerClock;
  readonly ledger: Ledger;
  readonly inbox: InboxStore;
  readonly sweepMemory: SweepMemory = newSweepMemory();
  readonly died: Promise<'died'>;
  readonly #deps: ProcessDeps;
  #die: (word: 'died') => void = () => {};
  #dead = false;
  #stepsLeft = Number.POSITIVE_INFINITY;

  constructor(deps: ProcessDeps) {
    const { time, store, random, newToken } = deps;
    this.#deps = deps;
    this.died = new Promise((resolve) => {
      this.#die = resolve;
    });
    this.clock = {
      nowMs: () => time.nowMs() + deps.skewMs(),
      monotonicMs: () => time.passedMs(),
      sleep: async (ms) => {
        await this.step();
        time.pass(ms);
      },
    };
    const stepped = this.#stepped(store);
    this.inbox = stepped;
    this.ledger = createLedger({ store: stepped, clock: this.clock, random, newToken });
  }

  get alive(): boolean {
    return !this.#dead;
  }

  dieAfter(steps: number): void {
    this.#stepsLeft = steps;
  }

  /** Between two calls: others may come first, and who is dead never goes on. */
  async step(): Promise<void> {
    if (this.#stepsLeft <= 0) {
      this.#dead = true;
      this.#die('died');
    }
    this.#stepsLeft -= 1;
    if (!this.#dead) await this.#deps.interleaver.turn();
    if (this.#dead) await new Promise<never>(() => {});
  }

  /** A step before the table is asked and one before its answer is heard. */
  #stepped(store: MemoryStore): LedgerStore & InboxStore {
    const between = async <T>(call: () => Promise<T>): Promise<T> => {
      await this.step();
      const answer = call();
      // Whoever dies now never hears what became of it.
      answer.catch(() => {});
      await this.step();
      return answer;
    };
    return {
      transact: (writes, options) => between(() => store.transact(writes, options)),
      readCounters: (keys, options) => between(() => store.readCounters(keys, options)),
      readRecords: (jobIds, options) => between(() => store.readRecords(jobIds, options)),
      readEntries: (jobId, options) => store.readEntries(jobId, options),
      scan: () => store.scan(),
      due: (shard, beforeMs, limit, options) => store.due(shard, beforeMs, limit, options),
      announce: (announcement, options) => between(() => store.announce(announcement, options)),
      receive: (item, options) => between(() => store.receive(item, options)),
    };
  }
}
