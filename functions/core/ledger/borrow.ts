/**
 * Claims of a limit in a cohort. A job takes the part that its group keeps first, and the rest from the
 * members' lent amounts. Each counter has its own bound, which DynamoDB checks with the write:
 * - cohort: all jobs <= the sum of the members' own amounts
 * - group: a group's jobs <= own + borrowed
 * - kept: its kept part <= own - lent
 * - lent: all other parts <= the sum of lent amounts
 *
 * A job beyond its group's own amount is a borrower. If a job within it is refused, it sets a mark on the
 * counter, which then refuses borrowers until the mark expires. So that job waits only for running jobs.
 */
import { counterName, type LimitClaim } from '../../../policies/claim.ts';
import type { Violation } from '../../../policies/reason.ts';
import type { HoldJob } from './job.ts';
import { type ClaimOutcome, type CounterMerge, fitsBound, type KnownCounters, violationBy } from './merge.ts';

/** A job's claim on a limit in a cohort, with what was found so far. */
interface Whole {
  readonly name: string;
  readonly borrows: boolean;
  /** Units that no part was found for yet. */
  left: number;
  refused: boolean;
}

type Bounded = LimitClaim & Required<Pick<LimitClaim, 'bound'>>;

const NOTHING: ClaimOutcome = { bound: undefined, fitted: true, amount: 0 };

/** Judges the claims of one job that are in cohorts, in their order: the whole comes before its parts. */
export class BorrowingCheck {
  readonly #wholes = new Map<string, Whole>();
  readonly #taken = new Map<string, number>();
  readonly #known: KnownCounters;
  readonly #merges: ReadonlyMap<string, CounterMerge>;
  readonly #reserved: ReadonlySet<string>;

  /** @param reserved - counters, by name, in which room is kept for the job; it borrows nothing more from them. */
  constructor(
    known: KnownCounters,
    merges: ReadonlyMap<string, CounterMerge>,
    reserved: ReadonlySet<string>,
  ) {
    this.#known = known;
    this.#merges = merges;
    this.#reserved = reserved;
  }

  whole({ ask, names }: HoldJob, index: number): ClaimOutcome {
    const claim = ask.claims[index] as Bounded & Required<Pick<LimitClaim, 'own'>>;
    const name = names[index] ?? '';
    const { amount, bound, own } = claim;
    const committed = this.#seen(name);
    const borrows = !fitsBound(committed, amount, own);
    const refused = !fitsBound(committed, amount, bound);
    this.#wholes.set(name, { name, borrows, left: amount, refused });
    if (refused) return { ...NOTHING, refused: this.#violation(claim, name) };
    return { bound: borrows ? bound : own, fitted: true };
  }

  /** Returns no second violation for one limit: after the first refusal the other parts take nothing. */
  part({ ask, names }: HoldJob, index: number): ClaimOutcome {
    const claim = ask.claims[index] as Bounded & Required<Pick<LimitClaim, 'part'>>;
    const name = names[index] ?? '';
    const { bound, part } = claim;
    const whole = this.#wholes.get(counterName(part.of));
    if (whole === undefined) return { bound: undefined, fitted: claim.neverFits !== true };
    if (whole.refused) return NOTHING;
    if (part.from === 'kept') {
      const amount = Math.max(0, Math.min(whole.left, bound - this.#seen(name)));
      whole.left -= amount;
      return this.#take(name, { bound, fitted: true, amount });
    }
    const amount = part.from === 'lent' ? whole.left : claim.amount;
    if (amount === 0) return NOTHING;
    const { reclaim } = this.#known.get(name) ?? {};
    const isReclaimed = reclaim !== undefined || this.#merges.get(name)?.reclaims === true;
    const borrows = whole.borrows && !this.#reserved.has(name);
    if (fitsBound(this.#seen(name), amount, bound) && !(borrows && isReclaimed))
      return this.#take(name, { bound, fitted: true, amount, ...(borrows && { borrows }) });
    whole.refused = true;
    const refused = this.#violation(claim, whole.name, true);
    // A borrower waits for a job of its own group to end, behind all who want their own.
    return whole.borrows
      ? { ...NOTHING, refused, awaits: whole.name }
      : { ...NOTHING, refused, ...(reclaim !== 'fresh' && { reclaims: true }) };
  }

  #take(name: string, outcome: ClaimOutcome & Required<Pick<ClaimOutcome, 'amount'>>): ClaimOutcome {
    this.#taken.set(name, (this.#taken.get(name) ?? 0) + outcome.amount);
    return outcome;
  }

  /** Returns the counter's amount after all judged jobs are written. */
  #seen(name: string): number {
    const written = (this.#known.get(name)?.committed ?? 0) + (this.#merges.get(name)?.committed ?? 0);
    return written + (this.#taken.get(name) ?? 0);
  }

  /** @param whole - name of the limit's own counter, which the reason shows. */
  #violation(claim: LimitClaim, whole: string, lentOut?: true): Violation {
    // Only units that a job gives back are lent, so nothing is ever settled.
    return violationBy(claim, { committed: this.#seen(whole), settled: 0, ...(lentOut && { lentOut }) });
  }
}

/** Lists unread cohort counters of jobs for which another counter is known: a refusal shows only that one. */
export function unseenOfCohorts(jobs: readonly HoldJob[], known: KnownCounters): ReadonlySet<string> {
  const unseen = new Set<string>();
  for (const { ask, names } of jobs) {
    const inCohorts = names.filter((_, index) => {
      const { own, part } = ask.claims[index] ?? {};
      return own !== undefined || part !== undefined;
    });
    if (!inCohorts.some((name) => known.has(name))) continue;
    for (const name of inCohorts) if (!known.has(name)) unseen.add(name);
  }
  return unseen;
}
