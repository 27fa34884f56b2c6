/** Which limits come first. */
import { counterName } from '../../../policies/claim.ts';
import { isCap } from '../../../policies/limits/cap.ts';
import type { Limit } from '../../../policies/limits/limit.ts';
import { counterOf, limitAt } from '../../../policies/limits/limits.ts';
import type { Directory } from '../../../policies/place/directory.ts';
import { compareTexts } from '../../../policies/text/compare-texts.ts';
import { type CountersByName, type CurrentCounters, rankedNow } from '../reading/counters-now.ts';
import { subjectLabelOf } from '../reading/scope.ts';
import { placedChainOf } from '../reading/subjects-above.ts';
import type { askedModes } from '../standing/asked-mode.ts';
import type { SubjectLimit } from '../standing/group-limits.ts';
import { percentOf } from '../standing/limit-row.ts';
import { counterKeyIn, periodPairs } from '../standing/period-pair.ts';
import {
  compareTroubles,
  isInTrouble,
  isUsedUp,
  NO_TROUBLE,
  type TroubleLevel,
  troubleOf,
} from '../standing/trouble.ts';
import type { Budgets, BudgetsQuery } from './model.ts';

/** Three requests of a hundred keys. */
const LEADING_MAX = 300;
/** Nothing changes in it but late settlements. */
const PERIOD_BEFORE_RECENT_MS = 15 * 60_000;

interface OrderBasis {
  /** As they stand now, or at most a minute ago. */
  readonly counters: CountersByName;
  /** They are copies, minutes old: those that lead by them are looked at as they stand. */
  readonly isCopied: boolean;
  readonly kept: CurrentCounters;
  readonly modeOf: ReturnType<typeof askedModes>;
  readonly directory: Directory;
  readonly nowMs: number;
}

/** What matches, in the order that was asked for. */
interface OrderedBudgets extends Pick<Budgets, 'usedUp' | 'runsOut'> {
  readonly ordered: readonly SubjectLimit[];
}

/** Reads the counters of the period before only where somebody asks for trouble. @throws {LedgerError} */
export async function budgetsInOrder(
  all: readonly SubjectLimit[],
  asked: BudgetsQuery,
  basis: OrderBasis,
): Promise<OrderedBudgets> {
  const { counters, nowMs, directory } = basis;
  const used = usedAtLeast(all, asked, counters, nowMs);
  const isRanked = asked.sort === 'trouble' || asked.trouble !== undefined;
  if (!isRanked) return { ordered: sortedBy(asked, used, counters, basis) };
  const levels = await troublesNow(used, basis);
  const usedUp = levels.filter(({ level }) => isUsedUp(level)).length;
  const runsOut = levels.filter(({ level }) => isInTrouble(level)).length - usedUp;
  const matches = asked.trouble === 'used-up' ? isUsedUp : isInTrouble;
  const found = levels.filter(({ level }) => asked.trouble === undefined || matches(level));
  if (asked.sort === 'trouble')
    found.sort(
      (a, b) => compareTroubles(a.level, b.level) || compareTexts(a.each.limit.subject, b.each.limit.subject),
    );
  const ordered = found.map(({ each }) => each);
  return {
    ordered: asked.sort === 'trouble' ? ordered : sortedBy(asked, ordered, counters, { directory, nowMs }),
    usedUp,
    runsOut,
  };
}

interface RankedLimit {
  readonly each: SubjectLimit;
  readonly level: TroubleLevel;
}

async function troublesNow(all: readonly SubjectLimit[], basis: OrderBasis): Promise<readonly RankedLimit[]> {
  const { kept, modeOf, directory, nowMs } = basis;
  const periods = periodPairs(nowMs);
  const keys = all.flatMap(({ limit }) => {
    const { previous } = periods(limit);
    return previous === undefined || !isCounted(limit) ? [] : [counterKeyIn(limit, previous)];
  });
  const before = (await kept.recent(keys, PERIOD_BEFORE_RECENT_MS)).counters;
  const levelOf = ({ limit }: SubjectLimit, now: CountersByName): TroubleLevel => {
    if (!isCounted(limit)) return NO_TROUBLE;
    const rejects = modeOf(limit, placedChainOf(limit.subject, directory)) === 'enforce';
    return troubleOf(limit, rejects, { now, before, periods, nowMs });
  };
  return rankedNow(
    basis,
    kept,
    (counters) => all.map((each) => ({ each, level: levelOf(each, counters) })),
    (ranked) => {
      const leading = [...ranked].sort((a, b) => compareTroubles(a.level, b.level)).slice(0, LEADING_MAX);
      return leading.flatMap(({ each: { limit } }) => (isCounted(limit) ? [counterOf(limit, nowMs)] : []));
    },
  );
}

/** A cap has a counter for each; what is unlimited is never full. */
const isCounted = ({ subject, amount }: Limit): boolean => !isCap(subject) && amount !== 'unlimited';

function usedAtLeast(
  all: readonly SubjectLimit[],
  { percentMin }: BudgetsQuery,
  counters: CountersByName,
  nowMs: number,
): readonly SubjectLimit[] {
  if (percentMin === undefined) return all;
  return all.filter(({ limit }) => {
    const { amount } = limitAt(limit, nowMs);
    return amount !== 'unlimited' && percentOf(committedOf(limit, counters, nowMs), amount) >= percentMin;
  });
}

function sortedBy(
  { sort, holding }: BudgetsQuery,
  all: readonly SubjectLimit[],
  counters: CountersByName,
  { directory, nowMs }: Pick<OrderBasis, 'directory' | 'nowMs'>,
): readonly SubjectLimit[] {
  if (sort === 'name') {
    const named = all.map((each) => ({ each, name: subjectLabelOf(each.limit.subject, directory) }));
    return named.sort((a, b) => compareTexts(a.name, b.name)).map(({ each }) => each);
  }
  if (holding !== undefined) return all;
  const counted = all.map((each) => {
    const { amount } = limitAt(each.limit, nowMs);
    const committed = committedOf(each.limit, counters, nowMs);
    return { each, share: amount === 'unlimited' ? -1 : amount === 0 ? 1 : committed / amount };
  });
  counted.sort((a, b) => b.share - a.share || compareTexts(a.each.limit.subject, b.each.limit.subject));
  return counted.map(({ each }) => each);
}

const committedOf = (limit: Limit, counters: CountersByName, nowMs: number): number =>
  counters.get(counterName(counterOf(limit, nowMs)))?.committed ?? 0;
