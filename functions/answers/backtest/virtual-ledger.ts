import { counterName } from '../../../policies/claim.ts';
import {
  type CounterChange,
  draftRecord,
  type HoldAsk,
  type JobRecord,
  type KnownCounter,
  newJob,
  weigh,
} from '../../core/ledger/index.ts';

/** Some 200 bytes each: more than a machine should be filled with. Windows of a minute make the most. */
const COUNTERS_MAX = 2_000_000;

const NOTHING: KnownCounter = { committed: 0, fitted: 0, settled: 0 };

/**
 * Counters that never were, and the ledger's own rules on them: what a hold asks, what a settlement changes. One job
 * after the other, so nothing is ever contended and nothing is stored but the counters.
 */
export class VirtualLedger {
  readonly #known: Map<string, KnownCounter>;

  /** @param filled - what counters show before the first job, by `counterName`. @default nothing */
  constructor(filled: ReadonlyMap<string, KnownCounter> = new Map()) {
    this.#known = new Map(filled);
  }

  /**
   * The record the ledger would have made: HELD or REJECTED. Undefined: the ask is not lawful.
   *
   * @throws {Error} with the remedy, when there are too many counters.
   */
  hold(ask: HoldAsk, nowMs: number): JobRecord | undefined {
    const job = newJob(ask);
    if (job.outcome !== undefined) return undefined;
    for (const { counter, grace } of ask.claims) {
      this.#look(counterName(counter));
      if (grace !== undefined) this.#look(counterName(grace.pipeline));
    }
    const { verdicts, merges } = weigh([job], this.#known);
    for (const [name, { committed, fitted }] of merges) this.#add(name, committed, fitted, 0);
    const [verdict] = verdicts;
    return verdict && draftRecord(verdict, nowMs);
  }

  apply(changes: readonly CounterChange[]): void {
    for (const { name, write } of changes) this.#add(name, write.committed, write.fitted, write.settled);
  }

  /** A counter not looked at would be taken to have room. */
  #look(name: string): void {
    if (!this.#known.has(name)) this.#add(name, 0, 0, 0);
  }

  #add(name: string, committed: number, fitted: number, settled: number): void {
    const seen = this.#known.get(name) ?? NOTHING;
    if (seen === NOTHING && this.#known.size >= COUNTERS_MAX)
      throw new Error(`more than ${COUNTERS_MAX} counters to replay: choose a shorter time with --since`);
    this.#known.set(name, {
      committed: seen.committed + committed,
      fitted: seen.fitted + fitted,
      settled: seen.settled + settled,
    });
  }
}
