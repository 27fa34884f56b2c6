import { counterName } from '../../../policies/claim.ts';
import type { Limit } from '../../../policies/limits/limit.ts';
import { counterOf, limitAt, limitPeriod, limitsOn } from '../../../policies/limits/limits.ts';
import { validAt } from '../../../policies/limits/period.ts';
import { disclosureFor } from '../../../policies/text/rejection-text.ts';
import { withoutAbsent } from '../../../policies/without-absent.ts';
import type { GroupRowsContext } from '../overview/group-rows.ts';
import type { ReadContext } from '../reading/reading.ts';
import { subjectLabelOf } from '../reading/scope.ts';
import { placedChainOf, subjectsAbove } from '../reading/subjects-above.ts';
import { isBudget, subjectLimitsBelow } from '../standing/group-limits.ts';
import type { SubjectView } from './model.ts';

/**
 * Lists budgets above that also bind these jobs and are not visible: by the group's disclosure none, the one
 * with least left, or all, as on the page of a rejected job. @throws {LedgerError}
 */
export async function limitsAbove(
  subject: string,
  { limits, places, scope, nowMs }: GroupRowsContext,
  { counters, policy }: ReadContext,
): Promise<SubjectView['limitsAbove']> {
  const { directory } = places;
  const ancestors = placedChainOf(subject, directory);
  const visibility = directory.projectById.get(Number(subject.split('/')[1]))?.visibility;
  const placement = {
    ancestors,
    known: true,
    personal: false,
    ...(subject.startsWith('project/') && visibility !== undefined && { visibility }),
  };
  const disclosure = disclosureFor(placement, policy.disclose);
  if (scope.seesAll || disclosure === 'none') return [];
  const hidden = subjectsAbove(subject, directory).filter((each) => !scope.sees(each));
  const budgets = hidden.flatMap((each) => limitsOf(each).filter(isBudget));
  const now = await counters.fresh(budgets.map((budget) => counterOf(budget, nowMs)));
  const rows = budgets.flatMap((budget) => {
    const { amount, unit, contact } = limitAt(budget, nowMs);
    if (amount === 'unlimited') return [];
    const committed = now.get(counterName(counterOf(budget, nowMs)))?.committed ?? 0;
    const periodLabel = limitPeriod(budget, nowMs)?.label;
    return [
      {
        label: subjectLabelOf(budget.subject, directory),
        unit,
        amount,
        left: amount - committed,
        ...withoutAbsent({ periodLabel, contact }),
      },
    ];
  });
  return disclosure === 'all'
    ? rows
    : rows.toSorted((a, b) => a.left / a.amount - b.left / b.amount).slice(0, 1);

  function limitsOf(each: string): readonly Limit[] {
    const group = each.startsWith('group/') ? directory.groupById.get(Number(each.slice(6))) : undefined;
    return group === undefined
      ? validAt(limitsOn(limits, each), nowMs)
      : subjectLimitsBelow(group, limits, nowMs).map(({ limit }) => limit);
  }
}
