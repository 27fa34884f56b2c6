/** Which limits come first. */
import { isCap } from '../../../policies/limits/cap.ts';
import type { Limit } from '../../../policies/limits/limit.ts';
import { limitAt } from '../../../policies/limits/limits.ts';
import type { Directory } from '../../../policies/place/directory.ts';
import { compareTexts } from '../../../policies/text/compare-texts.ts';
import { type CountersByName, type CurrentCounters, rankedNow } from '../reading/counters-now.ts';
import { subjectLabelOf } from '../reading/scope.ts';
import { placedChainOf } from '../reading/subjects-above.ts';
import type { askedModes } from '../standing/asked-mode.ts';
import type { CountedLimit } from '../standing/counted-limits.ts';
import { percentOf } from '../standing/limit-row.ts';
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
  readonly ordered: readonly CountedLimit[];
}

/** Reads the counters of the period before only where somebody asks for trouble. @throws {LedgerError} */
export async function budgetsInOrder(
  all: readonly CountedLimit[],
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
  readonly each: CountedLimit;
  readonly level: TroubleLevel;
}

async function troublesNow(all: readonly CountedLimit[], basis: OrderBasis): Promise<readonly RankedLimit[]> {
  const { kept, modeOf, directory, nowMs } = basis;
  const keys = all.flatMap(({ limit, before }) => (before !== undefined && isCounted(limit) ? [before] : []));
  const before = (await kept.recent(keys, PERIOD_BEFORE_RECENT_MS)).counters;
  const levelOf = (each: CountedLimit, now: CountersByName): TroubleLevel => {
    const { limit } = each;
    if (!isCounted(limit)) return NO_TROUBLE;
    const rejects = modeOf(limit, placedChainOf(limit.subject, directory)) === 'enforce';
    return troubleOf(each, rejects, { now, before, nowMs });
  };
  return rankedNow(all, basis, kept, {
    ...{ levelOf, compare: compareTroubles, leadingMax: LEADING_MAX },
    keysOf: ({ limit, counter }) => (isCounted(limit) ? [counter] : []),
  });
}

/** A cap has a counter for each; what is unlimited is never full. */
const isCounted = ({ subject, amount }: Limit): boolean => !isCap(subject) && amount !== 'unlimited';

function usedAtLeast(
  all: readonly CountedLimit[],
  { percentMin }: BudgetsQuery,
  counters: CountersByName,
  nowMs: number,
): readonly CountedLimit[] {
  if (percentMin === undefined) return all;
  return all.filter((each) => {
    const { amount } = limitAt(each.limit, nowMs);
    return amount !== 'unlimited' && percentOf(committedOf(each, counters), amount) >= percentMin;
  });
}

function sortedBy(
  { sort, holding }: BudgetsQuery,
  all: readonly CountedLimit[],
  counters: CountersByName,
  { directory, nowMs }: Pick<OrderBasis, 'directory' | 'nowMs'>,
): readonly CountedLimit[] {
  if (sort === 'name') {
    const named = all.map((each) => ({ each, name: subjectLabelOf(each.limit.subject, directory) }));
    return named.sort((a, b) => compareTexts(a.name, b.name)).map(({ each }) => each);
  }
  if (holding !== undefined) return all;
  const counted = all.map((each) => {
    const { amount } = limitAt(each.limit, nowMs);
    const committed = committedOf(each, counters);
    return { each, share: amount === 'unlimited' ? -1 : amount === 0 ? 1 : committed / amount };
  });
  counted.sort((a, b) => b.share - a.share || compareTexts(a.each.limit.subject, b.each.limit.subject));
  return counted.map(({ each }) => each);
}

const committedOf = ({ counter }: CountedLimit, counters: CountersByName): number =>
  counters.get(counter.name)?.committed ?? 0;
