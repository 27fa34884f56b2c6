/** Which limits come first. */
import { limitAt } from '../../../policies/limits/limits.ts';
import type { Directory } from '../../../policies/place/directory.ts';
import { compareTexts } from '../../../policies/text/compare-texts.ts';
import { shareOf } from '../overview/overview-order.ts';
import type { CountersByName } from '../reading/counters-now.ts';
import { subjectLabelOf } from '../reading/scope.ts';
import type { CountedLimit } from '../standing/counted-limits.ts';
import { percentOf } from '../standing/limit-row.ts';
import type { BudgetsQuery } from './model.ts';

export function usedAtLeast(
  all: readonly CountedLimit[],
  { percentMin }: BudgetsQuery,
  counters: CountersByName,
  nowMs: number,
): readonly CountedLimit[] {
  if (percentMin === undefined) return all;
  return all.filter(({ limit, counter }) => {
    const { amount } = limitAt(limit, nowMs);
    const committed = counters.get(counter.name)?.committed ?? 0;
    return amount !== 'unlimited' && percentOf(committed, amount) >= percentMin;
  });
}

export function fullestFirst(
  all: readonly CountedLimit[],
  counters: CountersByName,
  nowMs: number,
): readonly CountedLimit[] {
  return all
    .map((each) => ({ each, share: shareOf(each, counters, nowMs) }))
    .sort((a, b) => b.share - a.share || compareTexts(a.each.limit.subject, b.each.limit.subject))
    .map(({ each }) => each);
}

export function byName(all: readonly CountedLimit[], directory: Directory): readonly CountedLimit[] {
  return all
    .map((each) => ({ each, name: subjectLabelOf(each.limit.subject, directory) }))
    .sort((a, b) => compareTexts(a.name, b.name))
    .map(({ each }) => each);
}
