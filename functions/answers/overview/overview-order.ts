/** Which lines come first, judged by counters alone. */
import type { Limit } from '../../../policies/limits/limit.ts';
import {
  compareTroubles,
  NO_TROUBLE,
  type PaceBasis,
  type TroubleLevel,
  troubleOf,
} from '../standing/trouble.ts';
import type { RowPlace } from './row-places.ts';

/** One line, and the budgets it is ordered by. */
export interface Candidate {
  readonly place: RowPlace;
  /** Those that reject jobs; where there are none, those that only watch. */
  readonly budgets: readonly Limit[];
  readonly rejects: boolean;
  /** What its spending is counted on. */
  readonly money: Limit | undefined;
}

/**
 * Candidates that run out first lead, those whose jobs are then rejected before those that only watch. Whoever has used
 * most follows among those that last, and who has no budget comes at the end, by path.
 */
export const byRunOut = (candidates: readonly Candidate[], basis: PaceBasis): readonly Candidate[] =>
  sorted(candidates, ({ budgets, rejects }) =>
    budgets.reduce<TroubleLevel>(
      (first, budget) => earlier(first, troubleOf(budget, rejects, basis)),
      NO_TROUBLE,
    ),
  );

const earlier = (one: TroubleLevel, other: TroubleLevel): TroubleLevel =>
  compareTroubles(one, other) <= 0 ? one : other;

/** Candidates come in order of paths, and a stable sort leaves equals so. */
function sorted(
  candidates: readonly Candidate[],
  levelOf: (candidate: Candidate) => TroubleLevel,
): readonly Candidate[] {
  return candidates
    .map((candidate) => ({ candidate, level: levelOf(candidate) }))
    .sort((a, b) => compareTroubles(a.level, b.level))
    .map(({ candidate }) => candidate);
}

/** Most first; undefined: not known, and last. */
export function bySpent(
  candidates: readonly Candidate[],
  spent: (candidate: Candidate) => number | undefined,
): readonly Candidate[] {
  return sorted(candidates, (candidate) => ({ tier: 0, atMs: 0, share: spent(candidate) ?? -1 }));
}
