/** Returns the zone of days in entries about a subject: a freeze's last day, a break-glass's first. */

import type { Limit } from '../../../../policies/limits/limit.ts';
import {
  defaultsOf,
  type LimitSet,
  limitsOn,
  subjectKey,
  withDefaults,
} from '../../../../policies/limits/limits.ts';
import type { Directory } from '../../../../policies/place/directory.ts';
import { isMoney } from '../../../../policies/units/unit.ts';

interface ZonesFrom {
  readonly limits: LimitSet;
  readonly directory: Directory | undefined;
  /** IANA zone of a subject that no limit with a period holds. */
  readonly zone: string;
}

/** IANA zone in which the limits that hold the subject count their periods: its own, else those of the nearest group above. */
export function zoneOfSubject(subject: string, { limits, directory, zone }: ZonesFrom): string {
  const [kind, id] = subject.split('/');
  const groupId =
    kind === 'group'
      ? Number(id)
      : kind === 'project'
        ? directory?.projectById.get(Number(id))?.groupId
        : undefined;
  const chain = groupId === undefined ? [] : (directory?.chainById.get(groupId) ?? []);
  const levels = [
    limitsOn(limits, subject),
    ...chain.toReversed().map((group) => {
      const key = subjectKey({ kind: 'group', id: group.id });
      return withDefaults(limitsOn(limits, key), defaultsOf(limits, group), key);
    }),
    limitsOn(limits, 'instance'),
  ];
  for (const level of levels) {
    const found = zoneOfLimits(level);
    if (found !== undefined) return found;
  }
  return zone;
}

/** A budget of money says it before any other limit. Minutes and hours are UTC's in every zone, and so say nothing. */
function zoneOfLimits(limits: readonly Limit[]): string | undefined {
  const zoned = limits.filter(({ per }) => per !== undefined && per !== 'minute' && per !== 'hour');
  return (zoned.find(({ kind }) => isMoney(kind)) ?? zoned[0])?.zone;
}
