/**
 * Claims of a limit in a cohort. A job takes first what its group keeps for itself, and the rest of what the members
 * lend. Each counter has a bound of its own, which DynamoDB checks with the write:
 *
 *   cohort   all jobs            <= the sum of what the members own
 *   group    a group's jobs      <= own + borrowed
 *   kept     its kept part       <= what it does not lend
 *   lent     all other parts     <= what the members lend
 *
 * A job past its group's own is a borrower. A job within it that finds no room leaves a mark on the counter that
 * refused, and until the mark expires that counter refuses borrowers: so the job waits at most for those that run already.
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

  /** What the counter shows once everything judged so far is written. */
  #seen(name: string): number {
    const written = (this.#known.get(name)?.committed ?? 0) + (this.#merges.get(name)?.committed ?? 0);
    return written + (this.#taken.get(name) ?? 0);
  }

  /** @param whole - name of the limit's own counter, which the reason shows. */
  #violation(claim: LimitClaim, whole: string, lentOut?: true): Violation {
    const { settled = 0 } = this.#known.get(whole) ?? {};
    return violationBy(claim, { committed: this.#seen(whole), settled, ...(lentOut && { lentOut }) });
  }
}

/** Counters of the jobs' claims in cohorts that nobody looked at, where another of the same job is known: a refusal shows that one alone. */
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
