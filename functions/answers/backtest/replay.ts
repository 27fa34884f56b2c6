import { counterName } from '../../../policies/claim.ts';
import { overEverywhereMs } from '../../../policies/limits/period.ts';
import { withoutAbsent } from '../../../policies/without-absent.ts';
import { pricedAs } from '../../core/job-ends/job-charge.ts';
import type { KnownCounter } from '../../core/ledger/counter.ts';
import { draftRecord, newJob } from '../../core/ledger/hold-job.ts';
import type { HoldRequest, JobRecord } from '../../core/ledger/ledger.ts';
import {
  expireMove,
  isExpiredCharged,
  releaseMove,
  settleMove,
  wasRejected,
} from '../../core/ledger/settle.ts';
import { weigh } from '../../core/ledger/weigh.ts';
import type { ReplayRequest, ReplayRequests } from './replay-requests.ts';

export interface ReplayedJob {
  readonly record: JobRecord;
  /** The replayed record; undefined: an invalid request, or no admission request. */
  readonly now: JobRecord | undefined;
  readonly waitedMs?: number;
  readonly request: ReplayRequest;
  readonly rejectedThen: boolean;
  /** Charged then; 0 for a job that is not over. */
  readonly thenMicros: number;
  /** The replayed charge; a rejected job that now runs is charged its estimate. */
  readonly nowMicros: number;
  readonly estimated: boolean;
}

const MINUTE_MS = 60_000;

interface End extends TimedEvent {
  readonly changes: readonly CounterChange[];
}

export interface ReplayState {
  readonly counters: readonly (readonly [name: string, KnownCounter])[];
  readonly ends: readonly End[];
}

interface ReplayOptions {
  /** GitLab obeys every response: a rejected job uses nothing, even if it really ran. @default false */
  readonly obeyed?: boolean;
  readonly from?: ReplayState | undefined;
}

/** Some 200 bytes each. Periods of a minute make the most. */
const COUNTERS_MAX = 2_000_000;

/** Applies the ledger's rules of holds and settlements to counters in memory, one job after the other. */
export class Replay {
  readonly #questions: ReplayRequests;
  readonly #sinceMs: number;
  readonly #known: Map<string, KnownCounter>;
  readonly #ends: EndQueue<End>;
  readonly #obeyed: boolean;

  /** @param sinceMs - jobs decided before are counted as they were decided, and not judged. */
  constructor(questions: ReplayRequests, sinceMs: number, { obeyed = false, from }: ReplayOptions = {}) {
    this.#obeyed = obeyed;
    this.#questions = questions;
    this.#sinceMs = sinceMs;
    this.#known = new Map(from?.counters);
    this.#ends = new EndQueue(from?.ends);
  }

  /** @param atMs - no earlier job follows */
  state(atMs: number): ReplayState {
    const counters = [...this.#known].filter(
      ([name, { committed, fitted, settled }]) =>
        (committed !== 0 || fitted !== 0 || settled !== 0) &&
        overEverywhereMs(name.slice(name.lastIndexOf('|') + 1)) > atMs,
    );
    return { counters, ends: this.#ends.all };
  }

  /**
   * Replays the next job; `decidedAtMs` never decreases. Undefined: not judged, because it was decided
   * before the span or had no admission request (unmetered, bypass).
   */
  next(record: JobRecord): ReplayedJob | undefined {
    const { decidedAtMs } = record;
    let end = this.#ends.takeUntil(decidedAtMs);
    for (; end !== undefined; end = this.#ends.takeUntil(decidedAtMs))
      for (const { name, change } of end.changes) this.#add(name, change);
    const rejectedThen = wasRejected(record);
    const ranAnyway = record.unchecked === 'bypass';
    const judged = decidedAtMs >= this.#sinceMs && (rejectedThen || !wasUnasked(record));
    if (!judged && rejectedThen && !ranAnyway) return undefined;
    const request = this.#questions.of(record);
    const ask = judged ? request.ask : unasked(request.ask, record, ranAnyway);
    const { record: now, waitedMs } = this.#hold(ask, record) ?? {};
    if (now !== undefined) this.#scheduleEnd(record, now, waitedMs);
    if (!judged) return undefined;
    return {
      ...{ record, now, request, rejectedThen, ...chargesOf(record, now) },
      ...withoutAbsent({ waitedMs }),
    };
  }

  /**
   * Follows the relay and the ledger: a job refused only by limits with a `wait` is retried when headroom
   * returns, and later jobs do not take it. So a waiting job takes its amounts now, and the next one needs
   * one more end. Requests stay open for the limits' wait time.
   */
  #hold(
    ask: HoldRequest,
    record: JobRecord,
  ): { readonly record: JobRecord; readonly waitedMs?: number } | undefined {
    const { decidedAtMs } = record;
    const first = this.#weigh(ask, decidedAtMs);
    const { waitMs, awaited } = first ?? {};
    if (waitMs === undefined || awaited === undefined) return first;
    const names = new Set(awaited);
    const untilMs = decidedAtMs + waitMs;
    const freed = new Map<string, KnownCounter>();
    const again = (atMs: number, later: HoldRequest) => {
      const late = this.#weigh(later, atMs, freed)?.record;
      return late?.state === 'HELD' ? { record: late, waitedMs: atMs - decidedAtMs } : undefined;
    };
    // Periods of a minute start empty.
    const minuteMs = (Math.floor(decidedAtMs / MINUTE_MS) + 1) * MINUTE_MS;
    let passed = minuteMs > untilMs;
    const atTheMinute = () => {
      passed = true;
      return again(minuteMs, this.#questions.of({ ...record, decidedAtMs: minuteMs }).ask);
    };
    for (const end of this.#ends.dueBy(untilMs)) {
      const waited = !passed && end.atMs >= minuteMs ? atTheMinute() : undefined;
      if (waited !== undefined) return waited;
      const changes = end.changes.filter(({ name }) => names.has(name));
      if (changes.length === 0) continue;
      for (const { name, change } of changes) freed.set(name, sumOf(freed.get(name), change));
      const found = again(end.atMs, ask);
      if (found !== undefined) return found;
    }
    return (passed ? undefined : atTheMinute()) ?? first;
  }

  /**
   * Returns the record that the ledger would have made, HELD or REJECTED; undefined: an invalid request.
   * @param freed - amounts that later ends return, by `counterName`: headroom for this job, though still
   * counted.
   * @throws {Error} with the remedy, if there are too many counters.
   */
  #weigh(ask: HoldRequest, nowMs: number, freed?: ReadonlyMap<string, KnownCounter>) {
    const job = newJob(ask);
    if (job.outcome !== undefined) return undefined;
    const pipelines = ask.claims.flatMap(({ grace }) => grace?.pipeline ?? []);
    const names = [...job.names, ...pipelines.map(counterName)];
    // A counter that is missing would count as having room.
    for (const name of names) if (!this.#known.has(name)) this.#add(name, NO_CHANGE);
    const after = (name: string) => sumOf(this.#known.get(name), freed?.get(name));
    const known = freed === undefined ? this.#known : new Map(names.map((name) => [name, after(name)]));
    const { weighedJobs, merges } = weigh([job], known);
    for (const [name, { committed, fitted }] of merges) this.#add(name, { committed, fitted, settled: 0 });
    const [decision] = weighedJobs;
    if (decision === undefined) return undefined;
    const { waitMs, awaited } = decision;
    return { record: draftRecord(decision, nowMs), ...withoutAbsent({ waitMs, awaited }) };
  }

  #add(name: string, change: KnownCounter): void {
    const seen = this.#known.get(name);
    if (seen === undefined && this.#known.size >= COUNTERS_MAX)
      throw new Error(`more than ${COUNTERS_MAX} counters to replay: choose a shorter time with --since`);
    this.#known.set(name, sumOf(seen, change));
  }

  #scheduleEnd(record: JobRecord, now: JobRecord, waitedMs = 0): void {
    const { jobId, decidedAtMs, endedAtMs } = record;
    const neverRan = record.state === 'REJECTED';
    // A job that is rejected again counts only if it ran all the same.
    if (now.state === 'REJECTED' && (this.#obeyed || record.unchecked !== 'bypass')) return;
    const durationSeconds = neverRan ? now.facts.estimateSeconds : (record.durationSeconds ?? 0);
    const ranUntilMs = neverRan ? decidedAtMs + durationSeconds * 1000 : endedAtMs;
    if (ranUntilMs === undefined) return;
    const atMs = ranUntilMs + waitedMs;
    const changes = changesAt(atMs, now, record, durationSeconds).map(
      ({ key, committed, fitted, settled }) => ({
        name: counterName(key),
        change: { committed, fitted, settled },
      }),
    );
    if (changes.length > 0) this.#ends.add({ atMs, jobId, changes });
  }
}

function changesAt(atMs: number, now: JobRecord, how: JobRecord, durationSeconds: number) {
  switch (how.state) {
    case 'RELEASED':
      return releaseMove(now, atMs).changes;
    case 'EXPIRED':
      return expireMove(now, isExpiredCharged(how) ? 'hold' : 'nothing', atMs).changes;
    case 'SETTLED':
    case 'REJECTED':
      return settleMove(now, { jobId: now.jobId, durationSeconds, endedAtMs: atMs }, atMs).changes;
    case 'HELD':
    case 'RUNNING':
    case 'RESERVED':
      return [];
  }
}

export const wasUnasked = ({ unchecked }: JobRecord): boolean =>
  unchecked === 'unmetered' || unchecked === 'bypass';

/** Takes its amounts unchecked; a bypassed job, unknown before its end, takes them at its end. */
function unasked(ask: HoldRequest, record: JobRecord, atItsEnd: boolean): HoldRequest {
  const refused = new Set(
    record.claims.flatMap(({ counter, checked, fitted }) =>
      checked && !fitted ? [counterName(counter)] : [],
    ),
  );
  return {
    ...ask,
    violations: [],
    claims: ask.claims.map((claim) => ({
      counter: claim.counter,
      unit: claim.unit,
      amount: atItsEnd ? 0 : claim.amount,
      // A limit in mode shadow or warn that refused it then still counts it as refused.
      ...(refused.has(counterName(claim.counter))
        ? { mode: 'shadow' as const, bound: 0 }
        : { mode: claim.mode }),
      rule: claim.rule,
      class: claim.class,
      refusal: (seen) => claim.refusal(seen),
    })),
  };
}

function chargesOf(record: JobRecord, now: JobRecord | undefined) {
  const charge = (as: JobRecord): number => {
    if (record.state === 'SETTLED') return pricedAs(as, record.durationSeconds ?? 0).micros;
    return isExpiredCharged(record) ? as.facts.costMicros : 0;
  };
  const thenMicros = charge(record);
  if (now === undefined) return { thenMicros, nowMicros: thenMicros, estimated: false };
  if (now.state === 'REJECTED')
    return { thenMicros, nowMicros: record.unchecked === 'bypass' ? charge(now) : 0, estimated: false };
  if (record.state !== 'REJECTED') return { thenMicros, nowMicros: charge(now), estimated: false };
  return { thenMicros, nowMicros: pricedAs(now, now.facts.estimateSeconds).micros, estimated: true };
}

interface CounterChange {
  readonly name: string;
  readonly change: KnownCounter;
}

const NO_CHANGE: KnownCounter = { committed: 0, fitted: 0, settled: 0 };

const sumOf = (counter = NO_CHANGE, change = NO_CHANGE): KnownCounter => ({
  committed: counter.committed + change.committed,
  fitted: counter.fitted + change.fitted,
  settled: counter.settled + change.settled,
});

interface TimedEvent {
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
