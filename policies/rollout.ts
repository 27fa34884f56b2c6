import type { LimitSet, RolloutClass } from './limits/limits.ts';
import { leastMode, type Mode, type RuleClass } from './mode.ts';
import type { Placement } from './place/placement.ts';
import type { Rule } from './rule.ts';

/** How far each class of rule may go for one job: what the closest of its groups says that says anything. */
type RolloutModes = Readonly<Record<RuleClass, Mode>>;

const EVERYWHERE: RolloutModes = { cost: 'enforce', capacity: 'enforce', security: 'enforce' };

export function rolloutModes(placement: Placement, limits: LimitSet): RolloutModes {
  if (limits.rollouts.size === 0) return EVERYWHERE;
  return {
    cost: closestRollout('cost', placement, limits),
    capacity: closestRollout('capacity', placement, limits),
    // Limits are edited by finance, and nothing finance edits weakens a security rule.
    security: 'enforce',
  };
}

function closestRollout(ruleClass: RolloutClass, placement: Placement, limits: LimitSet): Mode {
  for (let at = placement.ancestors.length - 1; at >= 0; at -= 1) {
    const group = placement.ancestors[at];
    const mode = group && limits.rollouts.get(group.id)?.[ruleClass];
    if (mode !== undefined) return mode;
  }
  return 'enforce';
}

/**
 * Limits are rolled out group by group. A rule that needs no counter has its mode from the policy alone: the relay, which
 * knows no limits, must come to the same answer, and whoever edits limits must not lift a freeze.
 */
export const rolledOut = (rule: Rule, modes: RolloutModes): Mode =>
  rule.stateless ? rule.mode : leastMode(rule.mode, modes[rule.class]);
