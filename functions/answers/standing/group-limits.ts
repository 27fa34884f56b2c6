import type { Limit } from '../../../policies/limits/limit.ts';
import { type LimitSet, limitsOfGroup, limitsOn, subjectKey } from '../../../policies/limits/limits.ts';
import type { DirectoryGroup } from '../../../policies/place/directory.ts';
import { isSpent } from '../../../policies/units/unit.ts';

/** A subject's limit, own or default. */
export interface SubjectLimit {
  readonly limit: Limit;
  readonly byDefault: boolean;
}

/** Current limits of a group: own and default ones. */
export function subjectLimitsBelow(
  group: Pick<DirectoryGroup, 'id' | 'path' | 'personal'>,
  limits: LimitSet,
  nowMs: number,
): readonly SubjectLimit[] {
  const own = new Set(limitsOn(limits, subjectKey({ kind: 'group', id: group.id })));
  return limitsOfGroup(limits, group, nowMs).map((limit) => ({ limit, byDefault: !own.has(limit) }));
}

/** A number of money or minutes per period: what can run out. */
export const isBudget = ({ kind, per, amount }: Limit): boolean =>
  isSpent(kind) && per !== undefined && amount !== 'unlimited';
