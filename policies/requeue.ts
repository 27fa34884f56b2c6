import type { RequeueSettings } from './policy.ts';
import type { Violation } from './reason.ts';
import { isInFlight } from './unit.ts';

export function findRequeueSettings(
  groupIds: readonly number[] = [],
  agreed: readonly RequeueSettings[] = [],
): RequeueSettings | undefined {
  const closest = groupIds.findLast((id) => agreed.some(({ groupId }) => groupId === id));
  return agreed.find(({ groupId }) => groupId === closest);
}

export type RoomReason = Extract<Violation['reason'], { readonly committed: number }>;

export function missingRoom(violations: readonly Violation[]): readonly RoomReason[] | undefined {
  const reasons = violations
    .filter(({ mode, exempt }) => mode === 'enforce' && exempt !== true)
    .map(({ reason }) => reason);
  const missing = reasons.filter(
    (reason): reason is RoomReason => 'committed' in reason && isInFlight(reason.unit),
  );
  return missing.length > 0 && missing.length === reasons.length ? missing : undefined;
}

export const requeueSettingsFor = (
  agreed: readonly RequeueSettings[] | undefined,
  groupIds: readonly number[] | undefined,
  violations: readonly Violation[],
): RequeueSettings | undefined =>
  missingRoom(violations) === undefined ? undefined : findRequeueSettings(groupIds, agreed);
