import { counterName } from '../../../policies/claim.ts';
import { overEverywhereMs } from '../../../policies/limits/period.ts';
import { withoutAbsent } from '../../../policies/without-absent.ts';
import {
  draftRecord,
  type HoldAsk,
  type JobRecord,
  type KnownCounter,
  newJob,
  weigh,
} from '../../core/ledger/index.ts';

/** Some 200 bytes each: more than a machine should be filled with. Windows of a minute make the most. */
const COUNTERS_MAX = 2_000_000;

export interface CounterChange {
  readonly name: string;
  readonly change: KnownCounter;
}

interface VirtualHold {
  /** The record the ledger would have made: HELD or REJECTED. */
  readonly record: JobRecord;
  /** All that rejects it would let it wait so long for room. Absent: something would not, or nothing rejects it. */
  readonly waitMs?: number;
  /** Counters, by name, that it would wait for. */
  readonly awaited?: readonly string[];
}

export const NO_CHANGE: KnownCounter = { committed: 0, fitted: 0, settled: 0 };

/**
 * Counters that never were, and the ledger's own rules on them: what a hold asks, what a settlement changes. One job
 * after the other, so nothing is ever contended and nothing is stored but the counters.
 */
export class VirtualLedger {
  readonly #known: Map<string, KnownCounter>;

  /** @param counters - as another ledger gave them. @default none was ever written */
  constructor(counters: Iterable<readonly [name: string, KnownCounter]> = []) {
    this.#known = new Map(counters);
  }

  /** All that a job decided at that instant or later may ask, by `counterName`. */
  counters(atMs: number): readonly (readonly [name: string, KnownCounter])[] {
    return [...this.#known].filter(
      ([name, { committed, fitted, settled }]) =>
        (committed !== 0 || fitted !== 0 || settled !== 0) &&
        overEverywhereMs(name.slice(name.lastIndexOf('|') + 1)) > atMs,
    );
  }

  /**
   * Returns the ledger's decision. Undefined: an invalid request.
   *
   * @param freed - amounts that later ends return, by `counterName`: headroom for this job, though still
   * counted.
   * @throws {Error} with the remedy, if there are too many counters.
   */
  hold(ask: HoldAsk, nowMs: number, freed?: ReadonlyMap<string, KnownCounter>): VirtualHold | undefined {
    const job = newJob(ask);
    if (job.outcome !== undefined) return undefined;
    const pipelines = ask.claims.flatMap(({ grace }) =>
      grace === undefined ? [] : [counterName(grace.pipeline)],
    );
    const names = [...job.names, ...pipelines];
    for (const name of names) this.#look(name);
    const { verdicts, merges } = weigh([job], freed === undefined ? this.#known : this.#after(names, freed));
    for (const [name, { committed, fitted }] of merges) this.#add(name, committed, fitted, 0);
    const [verdict] = verdicts;
    if (verdict === undefined) return undefined;
    const { waitMs, awaited } = verdict;
    return { record: draftRecord(verdict, nowMs), ...withoutAbsent({ waitMs, awaited }) };
  }

  apply(changes: readonly CounterChange[]): void {
    for (const { name, change } of changes) this.#add(name, change.committed, change.fitted, change.settled);
  }

  #after(names: readonly string[], freed: ReadonlyMap<string, KnownCounter>): Map<string, KnownCounter> {
    return new Map(
      names.map((name) => [name, sumOf(this.#known.get(name) ?? NO_CHANGE, freed.get(name) ?? NO_CHANGE)]),
    );
  }

  /** A counter not looked at would be taken to have room. */
  #look(name: string): void {
    if (!this.#known.has(name)) this.#add(name, 0, 0, 0);
  }

  #add(name: string, committed: number, fitted: number, settled: number): void {
    const seen = this.#known.get(name) ?? NO_CHANGE;
    if (seen === NO_CHANGE && this.#known.size >= COUNTERS_MAX)
      throw new Error(`more than ${COUNTERS_MAX} counters to replay: choose a shorter time with --since`);
    this.#known.set(name, sumOf(seen, { committed, fitted, settled }));
  }
}

/** Adds a change to a counter. */
export const sumOf = (counter: KnownCounter, change: KnownCounter): KnownCounter => ({
  committed: counter.committed + change.committed,
  fitted: counter.fitted + change.fitted,
  settled: counter.settled + change.settled,
});
