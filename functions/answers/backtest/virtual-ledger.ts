import { counterName } from '../../../policies/claim.ts';
import { overEverywhereMs } from '../../../policies/limits/period.ts';
import { withoutAbsent } from '../../../policies/without-absent.ts';
import type { KnownCounter } from '../../core/ledger/counter.ts';
import { draftRecord, newJob } from '../../core/ledger/hold-job.ts';
import type { HoldAsk, JobRecord } from '../../core/ledger/ledger.ts';
import { weigh } from '../../core/ledger/weigh.ts';

/** Some 200 bytes each. Periods of a minute make the most. */
const COUNTERS_MAX = 2_000_000;

export interface CounterChange {
  readonly name: string;
  readonly change: KnownCounter;
}

interface VirtualHold {
  /** The record the ledger would have made: HELD or REJECTED. */
  readonly record: JobRecord;
  /** Time that it may wait for headroom. Absent: a reason does not wait, or it is not rejected. */
  readonly waitMs?: number;
  readonly awaited?: readonly string[];
}

export const NO_CHANGE: KnownCounter = { committed: 0, fitted: 0, settled: 0 };

/**
 * Applies the ledger's rules of holds and settlements to counters in memory, one job after the other.
 */
export class VirtualLedger {
  readonly #known: Map<string, KnownCounter>;

  constructor(counters: Iterable<readonly [name: string, KnownCounter]> = []) {
    this.#known = new Map(counters);
  }

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

  /** A counter that is missing would count as having room. */
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

export const sumOf = (counter: KnownCounter, change: KnownCounter): KnownCounter => ({
  committed: counter.committed + change.committed,
  fitted: counter.fitted + change.fitted,
  settled: counter.settled + change.settled,
});

export interface TimedEvent {
  readonly atMs: number;
  readonly jobId: number;
}

/** Events by time, then by job id. It holds as many as jobs run in parallel. */
export class EndQueue<End extends TimedEvent> {
  readonly #ends: End[];

  constructor(all: readonly End[] = []) {
    this.#ends = all.toSorted((a, b) => (isBefore(a, b) ? 1 : -1));
  }

  get all(): readonly End[] {
    return this.#ends;
  }

  add(end: End): void {
    const ends = this.#ends;
    let [from, to] = [0, ends.length];
    while (from < to) {
      const between = (from + to) >> 1;
      const other = ends[between];
      if (other !== undefined && isBefore(end, other)) from = between + 1;
      else to = between;
    }
    ends.splice(from, 0, end);
  }

  dueBy(atMs: number): readonly End[] {
    const next = this.#ends.findLastIndex((end) => end.atMs > atMs) + 1;
    return this.#ends.slice(next).reverse();
  }

  takeUntil(atMs: number): End | undefined {
    const last = this.#ends.at(-1);
    return last !== undefined && last.atMs <= atMs ? this.#ends.pop() : undefined;
  }
}

const isBefore = (a: TimedEvent, b: TimedEvent): boolean =>
  a.atMs < b.atMs || (a.atMs === b.atMs && a.jobId < b.jobId);
