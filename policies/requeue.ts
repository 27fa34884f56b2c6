/** Which rejected jobs a group agreed to have retried. Pure. */
import type { RequeueSettings } from './policy.ts';
import type { Violation } from './reason.ts';
import { isInFlight } from './units/unit.ts';

/** What the closest group above a job agreed to. @param groupIds - root first */
export function agreedBy(
  groupIds: readonly number[] = [],
  agreed: readonly RequeueSettings[] = [],
): RequeueSettings | undefined {
  const closest = groupIds.findLast((id) => agreed.some(({ groupId }) => groupId === id));
  return agreed.find(({ groupId }) => groupId === closest);
}

/** A reason that the ends of other jobs take away. */
export type RoomReason = Extract<Violation['reason'], { readonly committed: number }>;

/** What a job lacks room for, if that is all that rejects it. */
export function missingRoom(violations: readonly Violation[]): readonly RoomReason[] | undefined {
  const reasons = violations
    .filter(({ mode, exempt }) => mode === 'enforce' && exempt !== true)
    .map(({ reason }) => reason);
  const missing = reasons.filter(
    (reason): reason is RoomReason => 'committed' in reason && isInFlight(reason.unit),
  );
  return missing.length > 0 && missing.length === reasons.length ? missing : undefined;
}

/** What the group of a rejected job agreed to, where nothing but lack of room rejects it. */
export const retriedBy = (
  agreed: readonly RequeueSettings[] | undefined,
  groupIds: readonly number[] | undefined,
  violations: readonly Violation[],
): RequeueSettings | undefined =>
  missingRoom(violations) === undefined ? undefined : agreedBy(groupIds, agreed);
