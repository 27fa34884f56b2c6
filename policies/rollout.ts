import type { Directory } from './directory.ts';
import type { LimitSet, RolloutClass } from './limits/limits.ts';
import type { Mode, RuleClass } from './mode.ts';
import type { Placement } from './placement.ts';
import type { Rule } from './rule.ts';

const REACH: Readonly<Record<Mode, number>> = { off: 0, shadow: 1, warn: 2, enforce: 3 };

/** The more careful of two modes: a limit's own mode acts on that limit only and can never tighten another. */
export const leastMode = (one: Mode, other: Mode): Mode => (REACH[one] <= REACH[other] ? one : other);

export const compareModes = (one: Mode, other: Mode): number => REACH[one] - REACH[other];

type RolloutModes = Readonly<Record<RuleClass, Mode>>;

const EVERYWHERE: RolloutModes = { cost: 'enforce', capacity: 'enforce', security: 'enforce' };

type RolloutPlace = Pick<Placement, 'ancestors' | 'projectId'>;

export function rolloutModes(place: RolloutPlace, limits: LimitSet): RolloutModes {
  if (limits.rollouts.size === 0) return EVERYWHERE;
  const subjects = rolloutSubjects(place);
  return {
    cost: closestRollout('cost', subjects, limits),
    capacity: closestRollout('capacity', subjects, limits),
    // Limits are edited by finance, and nothing finance edits weakens a security rule.
    security: 'enforce',
  };
}

export const rolloutSubjects = ({ ancestors, projectId }: RolloutPlace): readonly string[] => [
  ...(projectId === undefined ? [] : [`project/${projectId}`]),
  ...ancestors.map(({ id }) => `group/${id}`).reverse(),
  'instance',
];

export function rolloutPlaceOf(subject: string, directory: Directory | undefined): RolloutPlace {
  const [kind, name] = subject.split('/');
  const id = Number(name);
  if (kind === 'group') return { ancestors: directory?.chainById.get(id) ?? [{ id }] };
  if (kind !== 'project') return { ancestors: [] };
  const groupId = directory?.projectById.get(id)?.groupId;
  const ancestors = groupId === undefined ? [] : (directory?.chainById.get(groupId) ?? []);
  return { ancestors, projectId: id };
}

function closestRollout(ruleClass: RolloutClass, subjects: readonly string[], { rollouts }: LimitSet): Mode {
  for (const subject of subjects) {
    const mode = rollouts.get(subject)?.[ruleClass];
    if (mode !== undefined) return mode;
  }
  return 'enforce';
}

/**
 * Returns a rule's mode for one job. Only rules about limits are rolled out by group. A rule without a
 * counter follows the policy alone: the relay, which knows no limits, must decide the same, and an edit of
 * limits must not lift a freeze.
 */
export const effectiveMode = (rule: Rule, modes: RolloutModes): Mode =>
  rule.stateless ? rule.mode : leastMode(rule.mode, modes[rule.class]);
