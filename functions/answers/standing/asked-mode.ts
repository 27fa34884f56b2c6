import type { Limit } from '../../../policies/limits/limit.ts';
import type { LimitSet } from '../../../policies/limits/limits.ts';
import type { Mode } from '../../../policies/mode.ts';
import type { PlacedGroup } from '../../../policies/place/placement.ts';
import type { Policy } from '../../../policies/policy.ts';
import { compareModes, leastMode, rolloutModes } from '../../../policies/rollout.ts';
import { ASKED_BY } from '../../../policies/units/unit.ts';

/**
 * Returns a limit's mode for jobs of its subject: at most that of the policy's rule of its kind, and of the
 * rollout of its project or closest group. Without such a rule the limit is not checked.
 */
export const askedMode = (
  limit: Limit,
  ancestors: readonly PlacedGroup[],
  policy: Policy,
  limits: LimitSet,
): Mode => askedModes(policy, limits)(limit, ancestors);

/** The same for many limits of one set: there are few answers, and an overview asks for ten thousand. */
export function askedModes(
  { rules }: Policy,
  limits: LimitSet,
): (limit: Limit, ancestors: readonly PlacedGroup[]) => Mode {
  const known = new Map<string, Mode>();
  return ({ kind, mode, subject }, ancestors) => {
    const project = subject.startsWith('project/') ? { projectId: Number(subject.slice(8)) } : {};
    const rollout = rolloutModes({ ancestors, ...project }, limits);
    const name = `${kind} ${mode} ${rollout.cost} ${rollout.capacity}`;
    const answer = known.get(name);
    if (answer !== undefined) return answer;
    const strictest = rules
      .filter((rule) => rule.kind === ASKED_BY[kind])
      .map((rule) => leastMode(rule.mode, rollout[rule.class]))
      .reduce((a, b) => (compareModes(a, b) >= 0 ? a : b), 'off');
    const asked = leastMode(mode, strictest);
    known.set(name, asked);
    return asked;
  };
}
