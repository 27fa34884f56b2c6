import type { Policy } from '../../../policies/policy.ts';
import type { DayUsage } from '../reading/usage-days.ts';
import type { Rejections } from './model.ts';

/** Jobs rejected on some days, by rule. */
export const rejectedByRule = (days: readonly DayUsage[], policy: Policy): Rejections['byRule'] =>
  byRule(
    days.map(({ rejectedBy }) => rejectedBy),
    policy,
  );

/** Jobs that were rejected and ran all the same: an enabled controller would have failed them. */
export const ranRejectedByRule = (days: readonly DayUsage[], policy: Policy): Rejections['byRule'] =>
  byRule(
    days.map(({ ranRejectedBy }) => ranRejectedBy),
    policy,
  );

/** Jobs that would have been, by rules and limits that only watch. */
export const watchedByRule = (days: readonly DayUsage[], policy: Policy): Rejections['watchedByRule'] =>
  byRule(
    days.map(({ watchedBy }) => watchedBy),
    policy,
  );

function byRule(counts: readonly ReadonlyMap<string, number>[], { rules }: Policy): Rejections['byRule'] {
  const jobs = new Map<string, number>();
  for (const day of counts) for (const [rule, count] of day) jobs.set(rule, (jobs.get(rule) ?? 0) + count);
  return [...jobs]
    .filter(([, count]) => count > 0)
    .sort(([ruleA, a], [ruleB, b]) => b - a || (ruleA < ruleB ? -1 : 1))
    .map(([rule, count]) => {
      const kind = rules.find(({ id }) => id === rule)?.kind;
      return { rule, ...(kind !== undefined && { kind }), jobs: count };
    });
}
