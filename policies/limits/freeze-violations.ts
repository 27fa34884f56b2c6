import type { Job } from '../checked-job.ts';
import { exemptionOf } from '../match/exemption.ts';
import type { Mode } from '../mode.ts';
import { platformExemptions } from '../platform.ts';
import type { Policy } from '../policy.ts';
import type { Violation } from '../reason.ts';
import type { Freeze } from './freeze.ts';
import { subjectsOf } from './levels.ts';
import type { LimitSet } from './limits.ts';
import { isValidAt } from './validity.ts';

export const FREEZE_RULE = 'freezes';

/**
 * The freezes of the limits document that stop a job, in the order of its subjects. Each acts like a limit of 0: class
 * capacity, as far as that is rolled out in the group, and those who run the controller pass.
 */
export function freezeViolations(
  job: Job,
  { platform }: Policy,
  limits: LimitSet,
  mode: Mode,
): readonly Violation[] {
  if (limits.freezes === undefined || limits.freezes.size === 0 || mode === 'off') return [];
  const violations: Violation[] = [];
  for (const { subject, label } of subjectsOf(job)) {
    const freeze = freezeOn(limits, subject, job.nowMs);
    if (freeze === undefined) continue;
    const { untilMs, zone, reason: why, owner } = freeze;
    violations.push({
      rule: FREEZE_RULE,
      class: 'capacity',
      mode,
      reason: {
        code: 'GROUP_FROZEN',
        frozenLabel: label(),
        ...(untilMs !== undefined && { untilMs }),
        zone,
        why,
        ...(owner !== undefined && { owner }),
      },
    });
  }
  if (violations.length === 0) return [];
  const { exemption } = exemptionOf(platformExemptions(platform), job, job.nowMs);
  return exemption === undefined
    ? violations
    : violations.map((violation) => ({ ...violation, mode: 'shadow', exempt: true }));
}

/** The freeze of a subject that holds longest; undefined: none holds. */
function freezeOn({ freezes }: LimitSet, subject: string, nowMs: number): Freeze | undefined {
  let longest: Freeze | undefined;
  for (const freeze of freezes?.get(subject) ?? []) {
    if (isValidAt(freeze, nowMs) && (longest === undefined || endOf(freeze) > endOf(longest)))
      longest = freeze;
  }
  return longest;
}

const endOf = ({ untilMs = Number.POSITIVE_INFINITY }: Freeze): number => untilMs;
