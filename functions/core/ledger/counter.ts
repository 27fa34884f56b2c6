/** The claims of a pack on one counter become one write whose condition is the tightest of all their bounds. */
import type { Claim, CounterSnapshot, LimitClaim } from '../../../policies/claim.ts';
import type { Reason, Violation } from '../../../policies/reason.ts';
import { TRANSACTION_ITEMS_MAX } from '../store/operation.ts';
import type { Counter, ReservedPipeline, UncheckedCause } from './ledger.ts';
import type { CounterWrite } from './store.ts';

/**
 * In arrival order, with amounts a₁, a₂ … and bounds b₁, b₂ …, every bounded claim fits exactly if
 * `committed <= min over bounded i of (bᵢ − (a₁ + … + aᵢ))`. The same for `fitted` over the shadow claims that count there.
 * An enforced claim's bound is the soft one as long as it fits that, and the grace one where it is let in by grace.
 */
export class CounterMerge {
  readonly #key: Claim['counter'];
  #maxCommitted: number | undefined;
  #maxFitted: number | undefined;
  readonly #unchecked: Partial<Record<UncheckedCause, number>> = {};
  committed = 0;
  fitted = 0;
  /** A job borrows from it: the write fails if a member reclaims its own amount. */
  borrows = false;
  /** A job was refused its group's own amount: until the mark expires, borrowers are refused. */
  reclaims = false;

  constructor(key: Claim['counter']) {
    this.#key = key;
  }

  /** @param fitted - false for a shadow claim above its bound @param bound - undefined: unchecked */
  add(
    claim: Claim,
    fitted: boolean,
    unchecked: UncheckedCause | undefined,
    bound: number | undefined = claim.bound,
    amount: number = claim.amount,
  ): void {
    this.committed += amount;
    if (fitted) this.fitted += amount;
    if (bound === undefined) {
      if (unchecked !== undefined) this.#unchecked[unchecked] = (this.#unchecked[unchecked] ?? 0) + amount;
      return;
    }
    if (claim.mode === 'enforce')
      this.#maxCommitted = tighter(this.#maxCommitted, room(bound, this.committed));
    else if (fitted) this.#maxFitted = tighter(this.#maxFitted, room(bound, this.fitted));
  }

  giveBack(amount: number): void {
    this.committed -= amount;
    this.fitted -= amount;
  }

  write(nowMs: number): CounterWrite {
    return {
      kind: 'counter',
      key: this.#key,
      committed: this.committed,
      fitted: this.fitted,
      settled: 0,
      unchecked: this.#unchecked,
      ...(this.#maxCommitted === undefined ? {} : { maxCommitted: this.#maxCommitted }),
      ...(this.#maxFitted === undefined ? {} : { maxFitted: this.#maxFitted }),
      ...(this.borrows && { borrowedAtMs: nowMs }),
      ...(this.reclaims && { reclaimUntilMs: nowMs + RECLAIM_MS }),
    };
  }
}

/** The bound of a limit of 0. No counter is this low, so every job is refused, also a free one. */
const BLOCKED = -Number.MAX_SAFE_INTEGER;

const room = (bound: number, taken: number): number => (bound > 0 ? bound - taken : BLOCKED);

const tighter = (a: number | undefined, b: number): number => (a === undefined ? b : Math.min(a, b));

export const fitsBound = (seen: number, amount: number, bound: number): boolean =>
  bound > 0 && seen + amount <= bound;

export type KnownCounters = ReadonlyMap<string, KnownCounter>;

export interface KnownCounter {
  readonly committed: number;
  readonly fitted: number;
  readonly settled: number;
  /** A member of the cohort wants its own back; `stale`: its mark expires soon. */
  readonly reclaim?: 'fresh' | 'stale';
  readonly reserved?: readonly ReservedPipeline[];
}

/** Lifetime of a mark. A waiting member renews it with each request. */
const RECLAIM_MS = 120_000;

export function knownCounter(counter: Counter | undefined, nowMs: number): KnownCounter {
  const { committed = 0, fitted = 0, settled = 0, reclaimedUntilMs = 0, reserved } = counter ?? {};
  const leftMs = reclaimedUntilMs - nowMs;
  const seen = { committed, fitted, settled, ...(reserved !== undefined && { reserved }) };
  return leftMs <= 0 ? seen : { ...seen, reclaim: leftMs > RECLAIM_MS / 2 ? 'fresh' : 'stale' };
}

// Whole jobs into transactions: a job's record and all its counters are decided together or not at all.
export interface PackNeed {
  readonly items: number;
  readonly names: readonly string[];
}

/** Packs of at most 100 items, in order. `recordItem` bounds a record, so a pack stays far below DynamoDB's 4 MB. */
export function packs<T>(jobs: readonly T[], needs: (job: T) => PackNeed): readonly (readonly T[])[] {
  const all: T[][] = [];
  let pack: T[] = [];
  let items = 0;
  let names = new Set<string>();
  for (const job of jobs) {
    const need = needs(job);
    const more = need.items + countNew(need.names, names);
    if (pack.length > 0 && items + more > TRANSACTION_ITEMS_MAX) {
      all.push(pack);
      pack = [];
      items = 0;
      names = new Set();
    }
    items += need.items + countNew(need.names, names);
    for (const name of need.names) names.add(name);
    pack.push(job);
  }
  if (pack.length > 0) all.push(pack);
  return all;
}

const countNew = (wanted: readonly string[], present: ReadonlySet<string>): number => {
  let count = 0;
  for (const [index, name] of wanted.entries())
    if (!present.has(name) && wanted.indexOf(name) === index) count += 1;
  return count;
};

export interface ClaimOutcome {
  /** The bound at commit; undefined: unchecked. */
  readonly bound: number | undefined;
  readonly fitted: boolean;
  readonly refused?: Violation;
  /** The bound under which its pipeline's grace may let a refused claim in. */
  readonly grace?: number;
  readonly noted?: Violation;
  readonly warned?: Violation;
  readonly amount?: number;
  /** It takes what is lent: while that is reclaimed it may not. */
  readonly borrows?: true;
  /** It is refused its group's own amount, so the counter gets a mark that refuses borrowers. */
  readonly reclaims?: true;
  /** The counter that a refused claim waits for; absent: its own. */
  readonly awaits?: string;
}

/**
 * An unread counter counts as having headroom. The write is checked against the soft bound until the counter shows that it is passed,
 * so a warning costs no read and is never missed. @param own - what the job's earlier claims take of the same counter
 */
export function judgeClaim(
  claim: LimitClaim,
  counter: KnownCounter | undefined,
  merge: CounterMerge | undefined,
  own: number,
): ClaimOutcome {
  const { amount, bound, soft, grace } = claim;
  if (bound === undefined) return { bound, fitted: claim.neverFits !== true };
  if (counter === undefined) return { bound: soft?.bound ?? bound, fitted: true };
  const { settled } = counter;
  if (claim.mode !== 'enforce') {
    const fitted = counter.fitted + (merge?.fitted ?? 0) + own;
    if (fitsBound(fitted, amount, bound)) return { bound, fitted: true };
    // Shadow claims above the bound may also be settled, so cap `settled` at `fitted`.
    const seen = { committed: fitted, settled: Math.min(settled, fitted) };
    return { bound, fitted: false, noted: violationBy(claim, seen) };
  }
  const seen = { committed: counter.committed + (merge?.committed ?? 0) + own, settled };
  if (soft !== undefined && fitsBound(seen.committed, amount, soft.bound))
    return { bound: soft.bound, fitted: true };
  if (fitsBound(seen.committed, amount, bound)) {
    if (soft === undefined) return { bound, fitted: true };
    return { bound, fitted: true, warned: violationOf(claim, 'warn', soft.warning(seen)) };
  }
  const refused = violationBy(claim, seen);
  return grace !== undefined && fitsBound(seen.committed, amount, grace.bound)
    ? { bound, fitted: true, refused, grace: grace.bound }
    : { bound, fitted: true, refused };
}

export const violationBy = (claim: LimitClaim, seen: CounterSnapshot): Violation =>
  violationOf(claim, claim.mode, claim.refusal(seen));

const violationOf = (claim: LimitClaim, mode: Violation['mode'], reason: Reason): Violation => ({
  rule: claim.rule,
  class: claim.class,
  mode,
  reason,
});
