/** One claim against what its counter shows: does it fit, and how much of a fit must the table confirm? */
import type { CounterSnapshot, LimitClaim } from '../../../policies/claim.ts';
import type { Reason, Violation } from '../../../policies/reason.ts';
import { type CounterMerge, fitsBound } from './merge.ts';
import type { KnownCounter } from './weighing.ts';

interface Judged {
  /** What the claim must fit at commit; undefined: it does not ask. */
  readonly bound: number | undefined;
  /** Whether it counts in `fitted`. */
  readonly fitted: boolean;
  /** It does not fit, and may refuse the job. */
  readonly refused?: Violation;
  /** The bound under which its pipeline's grace may let a refused claim in. */
  readonly grace?: number;
  /** It does not fit and only watches. */
  readonly noted?: Violation;
  /** It fits, and passes the soft part of the limit. */
  readonly warned?: Violation;
}

/**
 * A counter not yet seen is taken to have room. A soft bound is asked like the bound itself until the counter shows that
 * it is passed: so the warning costs no read, and is never missed however small the job.
 *
 * @param merge - the claims kept before this one in the same pack.
 * @param own - what the job's own earlier claims take of the same counter.
 */
export function judgeClaim(
  claim: LimitClaim,
  counter: KnownCounter | undefined,
  merge: CounterMerge | undefined,
  own: number,
): Judged {
  const { amount, bound, soft, grace } = claim;
  if (bound === undefined) return { bound, fitted: claim.neverFits !== true };
  if (counter === undefined) return { bound: soft?.bound ?? bound, fitted: true };
  const { settled } = counter;
  if (claim.mode !== 'enforce') {
    const fitted = counter.fitted + (merge?.fitted ?? 0) + own;
    if (fitsBound(fitted, amount, bound)) return { bound, fitted: true };
    // What is settled is settled for all jobs; those that would have run have at most all of theirs settled.
    const seen = { committed: fitted, settled: Math.min(settled, fitted) };
    return { bound, fitted: false, noted: refusalOf(claim, seen) };
  }
  const seen = { committed: counter.committed + (merge?.committed ?? 0) + own, settled };
  if (soft !== undefined && fitsBound(seen.committed, amount, soft.bound))
    return { bound: soft.bound, fitted: true };
  if (fitsBound(seen.committed, amount, bound)) {
    if (soft === undefined) return { bound, fitted: true };
    return { bound, fitted: true, warned: violationOf(claim, 'warn', soft.warning(seen)) };
  }
  const refused = refusalOf(claim, seen);
  return grace !== undefined && fitsBound(seen.committed, amount, grace.bound)
    ? { bound, fitted: true, refused, grace: grace.bound }
    : { bound, fitted: true, refused };
}

const refusalOf = (claim: LimitClaim, seen: CounterSnapshot): Violation =>
  violationOf(claim, claim.mode, claim.refusal(seen));

const violationOf = (claim: LimitClaim, mode: Violation['mode'], reason: Reason): Violation => ({
  rule: claim.rule,
  class: claim.class,
  mode,
  reason,
});
