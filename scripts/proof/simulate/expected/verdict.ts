/** Whether a job fits. Every limit that is enforced must have room for all of it; a limit that watches refuses nobody. */
import type { ExpectedClaim } from './asked-claims.ts';

export interface CounterSums {
  /** Settled and held. */
  readonly committed: number;
  /** Leaves out what a limit that watches would have refused. */
  readonly fitted: number;
  readonly settled: number;
  /** The part of `committed` that did not ask, by cause. */
  readonly exempt: number;
  readonly unmetered: number;
  readonly bypass: number;
}

export const NO_SUMS: CounterSums = {
  committed: 0,
  fitted: 0,
  settled: 0,
  exempt: 0,
  unmetered: 0,
  bypass: 0,
};

interface ExpectedVerdict {
  /** The enforced counters that have no room for it. Empty: it is admitted. */
  readonly refusedBy: readonly string[];
  /** Whether each claim counts in `fitted` if the job is admitted; same order as the claims. */
  readonly fitted: readonly boolean[];
}

/** @param spokenFor - counters that other jobs wait for: of limits that wait it is given nothing there. */
export function expectedVerdictOn(
  claims: readonly ExpectedClaim[],
  shows: (counter: string) => Pick<CounterSums, 'committed' | 'fitted'>,
  spokenFor: ReadonlySet<string> = NOTHING,
): ExpectedVerdict {
  const refusedBy: string[] = [];
  const fitted = claims.map(({ counter, bound, mode, amount, waitMs }) => {
    if (bound === undefined) return true;
    const before = shows(counter);
    if (mode === 'enforce') {
      const isOthers = waitMs !== undefined && spokenFor.has(counter);
      if (bound === 0 || before.committed + amount > bound || isOthers) refusedBy.push(counter);
      return true;
    }
    return bound > 0 && before.fitted + amount <= bound;
  });
  return { refusedBy, fitted };
}

const NOTHING: ReadonlySet<string> = new Set();

/**
 * For how much longer a job that is refused may be kept waiting: as long as the least patient of what refuses it says. Not at all
 * where one of them says nothing, or could never have room for it.
 */
export function expectedWaitMs(
  claims: readonly ExpectedClaim[],
  refusedBy: readonly string[],
  waitedMs: number,
): number {
  const refusing = claims.filter(({ counter }) => refusedBy.includes(counter));
  if (refusing.length === 0) return 0;
  const waits = refusing.map((claim) => (neverFits(claim) ? 0 : (claim.waitMs ?? 0)));
  return Math.max(0, Math.min(...waits) - waitedMs);
}

/** Larger than its limit alone: whatever the counter shows. */
export const neverFits = ({ bound, amount }: ExpectedClaim): boolean =>
  bound !== undefined && (bound === 0 || amount > bound);
