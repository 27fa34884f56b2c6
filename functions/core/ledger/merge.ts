/** The claims of a pack on one counter become one write whose condition is the tightest of all their bounds. */
import type { Claim } from '../../../policies/claim.ts';
import type { UncheckedCause } from './ledger.ts';
import type { CounterWrite } from './store.ts';

/**
 * In arrival order, with amounts a₁, a₂ … and bounds b₁, b₂ …, every bounded claim fits exactly if
 * `committed <= min over bounded i of (bᵢ − (a₁ + … + aᵢ))`. The same for `fitted` over the shadow claims that count there.
 * An enforced claim's bound is the soft one as long as it fits that, and the grace one where it is let in by grace.
 */
export class CounterMerge {
  readonly #key: Claim['counter'];
  #committed = 0;
  #fitted = 0;
  #maxCommitted: number | undefined;
  #maxFitted: number | undefined;
  readonly #unchecked: Partial<Record<UncheckedCause, number>> = {};

  constructor(key: Claim['counter']) {
    this.#key = key;
  }

  get committed(): number {
    return this.#committed;
  }

  get fitted(): number {
    return this.#fitted;
  }

  /**
   * @param fitted - false for a shadow claim that its bound would have refused: it counts in `committed` alone.
   * @param bound - what the claim must fit; undefined: it does not ask.
   */
  add(
    claim: Claim,
    fitted: boolean,
    unchecked: UncheckedCause | undefined,
    bound: number | undefined = claim.bound,
  ): void {
    this.#committed += claim.amount;
    if (fitted) this.#fitted += claim.amount;
    if (bound === undefined) {
      if (unchecked !== undefined)
        this.#unchecked[unchecked] = (this.#unchecked[unchecked] ?? 0) + claim.amount;
      return;
    }
    if (claim.mode === 'enforce')
      this.#maxCommitted = tighter(this.#maxCommitted, room(bound, this.#committed));
    else if (fitted) this.#maxFitted = tighter(this.#maxFitted, room(bound, this.#fitted));
  }

  write(): CounterWrite {
    return {
      kind: 'counter',
      key: this.#key,
      committed: this.#committed,
      fitted: this.#fitted,
      settled: 0,
      unchecked: this.#unchecked,
      ...(this.#maxCommitted === undefined ? {} : { maxCommitted: this.#maxCommitted }),
      ...(this.#maxFitted === undefined ? {} : { maxFitted: this.#maxFitted }),
    };
  }
}

/** Limits of 0 block, also jobs that cost 0 and counters that a credit brought below zero: no counter shows so little. */
const BLOCKED = -Number.MAX_SAFE_INTEGER;

const room = (bound: number, taken: number): number => (bound > 0 ? bound - taken : BLOCKED);

const tighter = (a: number | undefined, b: number): number => (a === undefined ? b : Math.min(a, b));

/** Whether a counter that shows `seen` can take the amount. */
export const fitsBound = (seen: number, amount: number, bound: number): boolean =>
  bound > 0 && seen + amount <= bound;
