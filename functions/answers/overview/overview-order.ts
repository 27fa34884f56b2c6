/** Which lines come first, judged by counters alone. */
import type { CountedLimit } from '../standing/counted-limits.ts';
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
  readonly budgets: readonly CountedLimit[];
  readonly rejects: boolean;
  /** What its spending is counted on. */
  readonly money: CountedLimit | undefined;
}

/**
 * Candidates that run out first lead, those whose jobs are then rejected before those that only watch. Whoever has used
 * most follows among those that last, and who has no budget comes at the end.
 */
export const runOutLevel = ({ budgets, rejects }: Candidate, basis: PaceBasis): TroubleLevel =>
  budgets.reduce<TroubleLevel>(
    (first, budget) => earlier(first, troubleOf(budget, rejects, basis)),
    NO_TROUBLE,
  );

const earlier = (one: TroubleLevel, other: TroubleLevel): TroubleLevel =>
  compareTroubles(one, other) <= 0 ? one : other;

/** Most first; undefined: not known, and last. Candidates come in order of paths, and a stable sort leaves equals so. */
export function bySpent(
  candidates: readonly Candidate[],
  spent: (candidate: Candidate) => number | undefined,
): readonly Candidate[] {
  return candidates
    .map((candidate) => ({ candidate, micros: spent(candidate) ?? -1 }))
    .sort((a, b) => b.micros - a.micros)
    .map(({ candidate }) => candidate);
}
