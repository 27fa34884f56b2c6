/** The whole house over one table in memory, GitLab beside it, and the books that watch every commit. */

import type { DecideDeps, Rules } from '../../functions/core/admission/judge.ts';
import type { UnmeteredAnswer } from '../../functions/core/contract/admissions.ts';
import { silentLog } from '../../functions/core/environment/environment.ts';
import { dynamoSweepMarks } from '../../functions/core/ledger/checkpoints.ts';
import { MemoryStore, type StoreFault } from '../../functions/core/ledger/memory-store.ts';
import { ledgerKeys } from '../../functions/core/store/keys.ts';
import { MemoryTable } from '../../functions/core/store/memory-table.ts';
import { seededRandom } from '../../scripts/local/random.ts';
import type { Plan } from './action.ts';
import { Books } from './books.ts';
import { rulesOf } from './documents.ts';
import { Interleaver } from './interleaver.ts';
import { INSTANCE } from './places.ts';
import { Process } from './process.ts';
import { type Edition, FIRST_EDITION, versionText } from './rulebook.ts';
import { Streams } from './streams.ts';
import { Truth } from './truth.ts';
import { Usage } from './usage.ts';

export const PROCESSES = ['admit 0', 'admit 1', 'hook', 'settle', 'sweep 0', 'sweep 1', 'requeue'] as const;
export type ProcessName = (typeof PROCESSES)[number];

export class World {
  readonly plan: Plan;
  readonly interleaver: Interleaver;
  readonly truth: Truth;
  readonly books: Books;
  readonly store: MemoryStore;
  readonly streams: Streams;
  readonly usage: Usage;
  readonly editions: Edition[] = [FIRST_EDITION];
  readonly keys = ledgerKeys(INSTANCE);
  readonly marks = dynamoSweepMarks({ table: new MemoryTable(), instance: 'gitlab.example.com' });
  readonly faults: (StoreFault | null)[] = [];
  readonly skewMs = new Map<ProcessName, number>();
  /** One thing happens at a time, and the table does what it is asked. */
  isCalm = true;
  /** Jobs whose end settlement has read of. */
  readonly heard = new Set<number>();
  /** What each relay answered without the ledger and has not posted yet. */
  readonly unmetered: [UnmeteredAnswer[], UnmeteredAnswer[]] = [[], []];
  readonly #random: () => number;
  readonly #processes = new Map<ProcessName, Process>();
  #rules: Rules = rulesOf(FIRST_EDITION);
  #passedMs = 0;
  #tokens = 0;
  #calls = 0;

  constructor(plan: Plan) {
    this.plan = plan;
    this.interleaver = new Interleaver(plan.seed);
    this.#random = seededRandom(plan.seed + 1);
    this.truth = new Truth(plan.jobs, this.nowMs, () => this.edition.tree);
    this.streams = new Streams(this.keys);
    this.usage = new Usage(this.keys, () => this.#rules.directory);
    this.books = new Books({
      truth: this.truth,
      editions: this.editions,
      chargeUnknown: plan.chargeUnknown,
      onRecord: (record) => this.usage.wrote(record),
    });
    this.store = new MemoryStore({
      instance: INSTANCE,
      clock: { nowMs: this.nowMs, monotonicMs: this.passedMs, sleep: async (ms) => this.pass(ms) },
      fault: () => this.faults.shift() ?? undefined,
      onCommit: (writes) => this.#watched(() => this.books.onCommit(writes)),
      onReceived: (item) => this.streams.received(item),
    });
  }

  /** What a commit broke: the program that made it may well pass over the failure. */
  readonly wrongs: unknown[] = [];

  #watched(check: () => void): void {
    try {
      check();
    } catch (error) {
      this.wrongs.push(error);
    }
  }

  nowMs = (): number => this.plan.startMs + Math.floor(this.#passedMs);
  passedMs = (): number => this.#passedMs;

  pass(ms: number): void {
    this.#passedMs += ms;
    this.truth.passed();
  }

  get edition(): Edition {
    return this.editions.at(-1) ?? FIRST_EDITION;
  }

  get directory(): Rules['directory'] {
    return this.#rules.directory;
  }

  edit(change: Partial<Omit<Edition, 'number'>>): void {
    const next = { ...this.edition, ...change, number: this.editions.length };
    this.#rules = rulesOf(next);
    this.editions.push(next);
  }

  process(name: ProcessName): Process {
    const known = this.#processes.get(name);
    if (known?.alive === true) return known;
    const process = new Process({
      interleaver: this.interleaver,
      time: { nowMs: this.nowMs, passedMs: this.passedMs, pass: (ms) => this.pass(ms) },
      store: this.store,
      random: this.#random,
      newToken: () => {
        this.#tokens += 1;
        return `token-${this.#tokens}`;
      },
      skewMs: () => this.skewMs.get(name) ?? 0,
    });
    this.#processes.set(name, process);
    return process;
  }

  newCall(): number {
    this.#calls += 1;
    return this.#calls;
  }

  /** The rules of now, whose version says which edition, at what time, and in which call. */
  decideDeps({ ledger, clock }: Process, call: number = this.newCall()): DecideDeps {
    const currentRules = async (): Promise<Rules> => {
      const version = versionText({ edition: this.edition.number, atMs: clock.nowMs(), call });
      return { ...this.#rules, policy: { ...this.#rules.policy, version } };
    };
    return { ledger, currentRules, clock, log: silentLog };
  }
}
