/** Which lines come first, judged by counters alone. */
import { limitAt } from '../../../policies/limits/limits.ts';
import type { CountersByName } from '../reading/counters-now.ts';
import type { CountedLimit } from '../standing/counted-limits.ts';
import type { RowPlace } from './row-places.ts';

/** One line, and the budgets it is ordered by. */
export interface Candidate {
  readonly place: RowPlace;
  /** Those that reject jobs; where there are none, those that only watch. */
  readonly budgets: readonly CountedLimit[];
  /** The limit that counts its spend. */
  readonly money: CountedLimit | undefined;
}

/** The largest share of a budget first; places without a budget come last. */
export function byShare(
  candidates: readonly Candidate[],
  counters: CountersByName,
  nowMs: number,
): readonly Candidate[] {
  return descending(candidates, ({ budgets }) =>
    budgets.reduce((most, budget) => Math.max(most, shareOf(budget, counters, nowMs)), -1),
  );
}

/** Most first; undefined: not known, and last. */
export const bySpent = (
  candidates: readonly Candidate[],
  spent: (candidate: Candidate) => number | undefined,
): readonly Candidate[] => descending(candidates, (candidate) => spent(candidate) ?? -1);

/** (settled + held) / amount; -1: unlimited. */
export function shareOf({ limit, counter }: CountedLimit, counters: CountersByName, nowMs: number): number {
  const { amount } = limitAt(limit, nowMs);
  if (amount === 'unlimited') return -1;
  return amount === 0 ? 1 : (counters.get(counter.name)?.committed ?? 0) / amount;
}

/** Candidates come in order of paths, and a stable sort leaves equals so. */
function descending(
  candidates: readonly Candidate[],
  figureOf: (candidate: Candidate) => number,
): readonly Candidate[] {
  return candidates
    .map((candidate) => ({ candidate, figure: figureOf(candidate) }))
    .sort((a, b) => b.figure - a.figure)
    .map(({ candidate }) => candidate);
}
