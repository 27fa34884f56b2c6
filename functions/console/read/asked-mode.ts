import { ASKED_BY, type Limit, type LimitSet } from '../../../policies/limits/limits.ts';
import { compareModes, leastMode, type Mode } from '../../../policies/mode.ts';
import type { PlacedGroup } from '../../../policies/place/placement.ts';
import type { Policy } from '../../../policies/policy.ts';
import { rolloutModes } from '../../../policies/rollout.ts';

/**
 * How far a limit goes for jobs of its own subject: not further than the policy's rule of its kind, nor than the rollout of
 * the closest group. Without such a rule nobody asks it.
 */
export function askedMode(
  { kind, mode }: Limit,
  ancestors: readonly PlacedGroup[],
  { rules }: Policy,
  limits: LimitSet,
): Mode {
  const rollout = rolloutModes({ ancestors, known: true, personal: false }, limits);
  const strictest = rules
    .filter((rule) => rule.kind === ASKED_BY[kind])
    .map((rule) => leastMode(rule.mode, rollout[rule.class]))
    .reduce((a, b) => (compareModes(a, b) >= 0 ? a : b), 'off');
  return leastMode(mode, strictest);
}
