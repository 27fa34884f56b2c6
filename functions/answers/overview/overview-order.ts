/** Which lines come first, judged by counters alone: the days of ten thousand groups are too many to read for one page. */
import { counterName } from '../../../policies/claim.ts';
import { PROFILE_DAYS } from '../../../policies/forecast/daily-usage.ts';
import { DAY_MS } from '../../../policies/limits/calendar.ts';
import type { Limit } from '../../../policies/limits/limit.ts';
import { limitAt } from '../../../policies/limits/limits.ts';
import type { CountersByName } from '../reading/counters-now.ts';
import { LAST_TIER, tier } from '../standing/leading.ts';
import { counterKeyIn, type PeriodPair } from '../standing/period-pair.ts';
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

const HISTORY_MS = PROFILE_DAYS * DAY_MS;

/** What says how far a budget is. */
interface LimitStanding {
  readonly now: CountersByName;
  readonly before: CountersByName;
  readonly periods: (limit: Limit) => PeriodPair;
  readonly nowMs: number;
}

/**
 * Candidates that run out first lead, those whose jobs are then rejected before those that only watch. Whoever has used
 * most follows among those that last, and who has no budget comes at the end, by path.
 */
export const byRunOut = (candidates: readonly Candidate[], standing: LimitStanding): readonly Candidate[] =>
  sorted(candidates, ({ budgets, rejects }) =>
    budgets.reduce<Rank>((first, budget) => earlier(first, rankOf(budget, rejects, standing)), LAST),
  );

interface Rank {
  readonly tier: number;
  /** Unix ms; 0: it is used up. Infinity: nobody uses it. */
  readonly atMs: number;
  /** (settled + held) / amount. */
  readonly share: number;
}

const LAST: Rank = { tier: LAST_TIER, atMs: Number.POSITIVE_INFINITY, share: -1 };

function rankOf(written: Limit, rejects: boolean, standing: LimitStanding): Rank {
  const { now, periods, nowMs } = standing;
  const { current } = periods(written);
  const { amount } = limitAt(written, nowMs);
  if (amount === 'unlimited' || current === undefined) return LAST;
  const committed = now.get(counterName(counterKeyIn(written, current)))?.committed ?? 0;
  const share = amount === 0 ? Number.POSITIVE_INFINITY : committed / amount;
  if (committed >= amount) return { tier: tier({ rejects, runsOut: true }), atMs: 0, share };
  const pace = paceOf(written, committed, standing);
  const atMs = pace <= 0 ? Number.POSITIVE_INFINITY : nowMs + (amount - committed) / pace;
  return { tier: tier({ rejects, runsOut: atMs < current.endMs }), atMs, share };
}

/** Per ms: the mean of the last four weeks, with what is missing of them taken from the period before. */
function paceOf(limit: Limit, committed: number, { before, periods, nowMs }: LimitStanding): number {
  const { current, previous } = periods(limit);
  if (current === undefined) return 0;
  const elapsedMs = Number.isFinite(current.startMs) ? Math.max(1, nowMs - current.startMs) : HISTORY_MS;
  const last = previous && before.get(counterName(counterKeyIn(limit, previous)));
  const missingMs = Math.max(0, HISTORY_MS - elapsedMs);
  // A limit without a counter before it is new: its first hours say what there is to say.
  if (previous === undefined || last === undefined || last.rev === 0 || missingMs === 0)
    return committed / Math.max(DAY_MS, elapsedMs);
  const lengthMs = previous.endMs - previous.startMs;
  return (
    (committed + last.committed * Math.min(1, missingMs / lengthMs)) /
    (elapsedMs + Math.min(missingMs, lengthMs))
  );
}

const earlier = (one: Rank, other: Rank): Rank => (compare(one, other) <= 0 ? one : other);

/** Two budgets that are used up, or that nobody uses, are ordered by share, the larger first. */
const compare = (a: Rank, b: Rank): number => {
  if (a.tier !== b.tier) return a.tier - b.tier;
  return a.atMs === b.atMs ? descending(a.share, b.share) : a.atMs < b.atMs ? -1 : 1;
};

const descending = (a: number, b: number): number => (a === b ? 0 : a > b ? -1 : 1);

/** Candidates come in order of paths, and a stable sort leaves equals so. */
function sorted(
  candidates: readonly Candidate[],
  rank: (candidate: Candidate) => Rank,
): readonly Candidate[] {
  return candidates
    .map((candidate) => ({ candidate, rank: rank(candidate) }))
    .sort((a, b) => compare(a.rank, b.rank))
    .map(({ candidate }) => candidate);
}

/** Most first; undefined: not known, and last. */
export function bySpent(
  candidates: readonly Candidate[],
  spent: (candidate: Candidate) => number | undefined,
): readonly Candidate[] {
  return sorted(candidates, (candidate) => ({ tier: 0, atMs: 0, share: spent(candidate) ?? -1 }));
}
