import { type Claim, counterName } from '../../../policies/claim.ts';
import type { Limit } from '../../../policies/limits/limit.ts';
import { limitOfCounter } from '../../../policies/limits/limit-of-counter.ts';
import { type LimitSet, limitAt } from '../../../policies/limits/limits.ts';
import type { Directory } from '../../../policies/place/directory.ts';
import type { Violation } from '../../../policies/reason.ts';
import type { JobRecord } from '../../core/ledger/index.ts';
import { type RejectionCause, whyKey, whyOf } from './shadow-row.ts';

/** A job that a counter of everything that ran would have refused. */
interface NaiveRefusal {
  /** As the caller numbered it. */
  readonly job: number;
  /** Why, after the counter's own violations at that time; absent: none of them was recorded. */
  readonly why?: RejectionCause;
}

/** Some 300 bytes each while they are replayed: with more the naive count is left out rather than the machine filled. */
const CLAIMS_MAX = 1_000_000;

interface NaiveReplayOptions {
  /** Those of the document; absent: a counter is judged by what its violations told. */
  readonly limits?: LimitSet | undefined;
  /** Tells which groups have which limits by default. */
  readonly directory?: Directory | undefined;
  /** @default CLAIMS_MAX */
  readonly claimsMax?: number | undefined;
}

interface Replayed {
  readonly job: number;
  readonly jobId: number;
  readonly decidedAtMs: number;
  readonly endedAtMs: number;
  readonly held: number;
  readonly final: number;
  readonly checked: boolean;
  /** The true counter refused it already; one that counts more could not have taken it. */
  readonly refused: boolean;
  /** It did not fit, and its pipeline's grace let it in. */
  readonly graced: boolean;
}

/** A bound as a violation told it. Before the first one both counters were the same and refused nobody. */
interface BoundSeen {
  readonly atMs: number;
  readonly jobId: number;
  readonly bound: number;
  readonly why: RejectionCause;
}

interface CounterLife {
  /** As the limits document has it; absent: it does not. */
  readonly limit?: Limit;
  readonly claims: Replayed[];
  readonly bounds: BoundSeen[];
}

/**
 * Counters of everything that ran, replayed from records: what a job held at its decision, what it counts since its
 * end. From the first violation of a limit on it is judged by the limits document, with the grants of each instant; a
 * limit that is not there any more by what its last violation told. Records in any order.
 */
export class NaiveReplay {
  readonly #counters = new Map<string, CounterLife>();
  readonly #whys = new Map<string, RejectionCause>();
  readonly #limits: LimitSet | undefined;
  readonly #directory: Directory | undefined;
  readonly #claimsMax: number;
  #claims = 0;

  constructor({ limits, directory, claimsMax = CLAIMS_MAX }: NaiveReplayOptions = {}) {
    this.#limits = limits;
    this.#directory = directory;
    this.#claimsMax = claimsMax;
  }

  get tooMany(): boolean {
    return this.#claims > this.#claimsMax;
  }

  /** @param job - comes back in the refusals. */
  add(record: JobRecord, job: number): void {
    for (const violation of record.shadow) this.#noteBound(record, violation);
    if (record.state === 'REJECTED') return;
    this.#claims += record.claims.length;
    if (this.tooMany) {
      this.#counters.clear();
      return;
    }
    const graced = gracedCounters(record);
    for (const claim of record.claims) {
      const { held, counted, corrected, checked, fitted } = claim;
      this.#life(claim, record.decidedAtMs).claims.push({
        job,
        jobId: record.jobId,
        decidedAtMs: record.decidedAtMs,
        endedAtMs: record.endedAtMs ?? Number.POSITIVE_INFINITY,
        held,
        final: counted + corrected,
        checked,
        refused: checked && !fitted,
        graced: graced.has(counterName(claim.counter)),
      });
    }
  }

  /** Undefined: {@link tooMany}. */
  refusals(): readonly NaiveRefusal[] | undefined {
    if (this.tooMany) return undefined;
    return [...this.#counters.values()].flatMap((life) => refusalsOn(life));
  }

  #noteBound(record: JobRecord, violation: Violation): void {
    const { reason } = violation;
    if (this.tooMany || !isOnCounter(violation) || !('committed' in reason)) return;
    // A limit with grace refuses truly: its counter is the same either way.
    if (isLetInByGrace(record, violation)) return;
    const claim = claimOf(record, violation);
    if (claim === undefined) return;
    this.#life(claim, record.decidedAtMs).bounds.push({
      atMs: record.decidedAtMs,
      jobId: record.jobId,
      bound: reason.limitAmount,
      why: this.#known(whyOf(violation)),
    });
  }

  /** One object for all that is the same. */
  #known(why: RejectionCause): RejectionCause {
    const key = whyKey(why);
    const known = this.#whys.get(key) ?? why;
    this.#whys.set(key, known);
    return known;
  }

  #life({ counter, unit }: Pick<Claim, 'counter' | 'unit'>, atMs: number): CounterLife {
    const name = counterName(counter);
    let life = this.#counters.get(name);
    if (life === undefined) {
      const limit = this.#limits && limitOfCounter(counter, this.#limits, this.#directory, atMs);
      life = { claims: [], bounds: [], ...(limit?.unit === unit && { limit }) };
      this.#counters.set(name, life);
    }
    return life;
  }
}

/** Whether a counter said it: it is replayed, not counted as it stands. */
export const isOnCounter = ({ reason }: Violation): boolean =>
  'committed' in reason && reason.code !== 'SOFT_LIMIT';

/**
 * Whether it only tells that the job went past an enforced limit by the grace of its pipeline: nobody would have rejected
 * it. What a limit that watches refused counts apart, and its claim says so.
 */
export function isLetInByGrace(record: JobRecord, violation: Violation): boolean {
  if (record.state === 'REJECTED' || violation.mode !== 'warn' || !isOnCounter(violation)) return false;
  const claim = claimOf(record, violation);
  return claim?.checked === true && claim.fitted;
}

function claimOf({ claims }: JobRecord, { reason }: Violation): JobRecord['claims'][number] | undefined {
  if (!('committed' in reason)) return undefined;
  return claims.find(({ counter }) => counter.subject === reason.subject && counter.limit === reason.limit);
}

const gracedCounters = (record: JobRecord): ReadonlySet<string> =>
  new Set(
    record.shadow
      .filter((violation) => isLetInByGrace(record, violation))
      .flatMap((violation) => claimOf(record, violation) ?? [])
      .map(({ counter }) => counterName(counter)),
  );

interface Event {
  readonly atMs: number;
  readonly claim: Replayed;
  readonly starts: boolean;
}

function refusalsOn({ claims, bounds, limit }: CounterLife): readonly NaiveRefusal[] {
  bounds.sort((a, b) => a.atMs - b.atMs || a.jobId - b.jobId);
  const refusals: NaiveRefusal[] = [];
  let committed = 0;
  let next = 0;
  let known: BoundSeen | undefined;
  for (const { atMs, claim, starts } of eventsOf(claims)) {
    if (!starts) {
      committed += claim.final - claim.held;
      continue;
    }
    for (let seen = bounds[next]; seen !== undefined && seen.atMs <= atMs; seen = bounds[next]) {
      known = seen;
      next += 1;
    }
    const asks = claim.checked && !claim.graced;
    const over = known !== undefined && asks && committed + claim.held > boundAt(known, limit, atMs);
    if (claim.refused || over)
      refusals.push({ job: claim.job, ...(known !== undefined && { why: known.why }) });
    committed += claim.held;
  }
  return refusals;
}

function boundAt(seen: BoundSeen, limit: Limit | undefined, atMs: number): number {
  const amount = limit === undefined ? seen.bound : limitAt(limit, atMs).amount;
  return amount === 'unlimited' ? Number.POSITIVE_INFINITY : amount;
}

/** What ends at an instant makes room before what begins at it; equal instants go by job id, as GitLab hands them out. */
function eventsOf(claims: readonly Replayed[]): readonly Event[] {
  const events: Event[] = [];
  for (const claim of claims) {
    events.push({ atMs: claim.decidedAtMs, claim, starts: true });
    if (claim.endedAtMs !== Number.POSITIVE_INFINITY)
      events.push({ atMs: Math.max(claim.endedAtMs, claim.decidedAtMs), claim, starts: false });
  }
  return events.sort(
    (a, b) => a.atMs - b.atMs || endsBefore(a, b) || a.claim.jobId - b.claim.jobId || (a.starts ? -1 : 1),
  );
}

/** A job that ended in the instant it began has still begun first. */
const endsBefore = (a: Event, b: Event): number => rank(a) - rank(b);
const rank = ({ starts, claim }: Event): number => (starts || claim.endedAtMs <= claim.decidedAtMs ? 1 : 0);
