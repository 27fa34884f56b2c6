/**
 * Claims of a limit in a cohort. A job takes first what its group keeps for itself, and the rest of the pool of all that
 * the members lend. Each of both, and the group's own counter, has a bound of its own, so it holds at commit, whoever else writes:
 *
 *   all kept parts + pool <= what the members own     a group <= own + borrowed
 *   the pool <= what the members lend, so what is borrowed <= what the others lend and do not use
 *
 * A job that goes past its group's own is a borrower. A job within it that finds no room in the pool leaves a mark there,
 * and until that expires the pool refuses borrowers: so it waits at most for the jobs that run already.
 */
import { counterName, type LimitClaim } from '../../../policies/claim.ts';
import type { HoldJob } from './job.ts';
import { type ClaimOutcome, type CounterMerge, fitsBound, type KnownCounters, violationBy } from './merge.ts';

/** What the job's claims on a limit in a cohort come to; one per job and limit. */
interface Whole {
  readonly index: number;
  readonly borrows: boolean;
  /** Units that no part was found for yet. */
  left: number;
  refused: boolean;
}

/** Judges the claims of one job that are in cohorts, in their order: the whole comes before its parts. */
export class BorrowingCheck {
  readonly #wholes = new Map<string, Whole>();
  readonly #taken = new Map<string, number>();
  readonly #known: KnownCounters;
  readonly #merges: ReadonlyMap<string, CounterMerge>;

  constructor(known: KnownCounters, merges: ReadonlyMap<string, CounterMerge>) {
    this.#known = known;
    this.#merges = merges;
  }

  whole({ ask, names }: HoldJob, index: number): ClaimOutcome {
    const claim = ask.claims[index] as LimitClaim;
    const name = names[index] ?? '';
    const { amount, bound = 0, own = 0 } = claim;
    const committed = this.#seen(name);
    const borrows = !fitsBound(committed, amount, own);
    const refused = borrows && !fitsBound(committed, amount, bound);
    this.#wholes.set(name, { index, borrows, left: amount, refused });
    const settled = this.#known.get(name)?.settled ?? 0;
    if (refused) return { bound, fitted: true, refused: violationBy(claim, { committed, settled }) };
    return { bound: borrows ? bound : own, fitted: true };
  }

  /** What is refused here is refused to the whole where it borrows: it waits for its own group's jobs, behind nobody who wants his own. */
  part({ ask, names }: HoldJob, index: number): ClaimOutcome {
    const claim = ask.claims[index] as LimitClaim;
    const name = names[index] ?? '';
    const { bound, part } = claim;
    const whole = part && this.#wholes.get(counterName(part.of));
    if (bound === undefined || whole === undefined)
      return { bound: undefined, fitted: claim.neverFits !== true };
    if (whole.refused || whole.left === 0) return { bound: undefined, fitted: true, amount: 0 };
    const seen = this.#seen(name) + (this.#taken.get(name) ?? 0);
    if (part?.from === 'kept') {
      const amount = Math.max(0, Math.min(whole.left, bound - seen));
      whole.left -= amount;
      this.#taken.set(name, (this.#taken.get(name) ?? 0) + amount);
      return { bound, fitted: true, amount };
    }
    const amount = whole.left;
    this.#taken.set(name, (this.#taken.get(name) ?? 0) + amount);
    const { reclaim } = this.#known.get(name) ?? {};
    const isReclaimed = reclaim !== undefined || this.#merges.get(name)?.reclaims === true;
    if (fitsBound(seen, amount, bound) && !(whole.borrows && isReclaimed))
      return { bound, fitted: true, amount, ...(whole.borrows && { borrows: true }) };
    const wholeName = names[whole.index] ?? '';
    const refused = violationBy(claim, {
      committed: this.#seen(wholeName),
      settled: this.#known.get(wholeName)?.settled ?? 0,
      lentOut: true,
    });
    return whole.borrows
      ? { bound, fitted: true, amount, refused, awaits: wholeName }
      : { bound, fitted: true, amount, refused, ...(reclaim !== 'fresh' && { reclaims: true }) };
  }

  #seen(name: string): number {
    return (this.#known.get(name)?.committed ?? 0) + (this.#merges.get(name)?.committed ?? 0);
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
