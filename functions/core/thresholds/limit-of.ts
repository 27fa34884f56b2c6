import type { CounterKey } from '../../../policies/claim.ts';
import { isCap } from '../../../policies/limits/cap.ts';
import { type LimitSet, limitAt, limitsOfGroup, limitsOn } from '../../../policies/limits/limits.ts';
import type { Directory } from '../../../policies/place/directory.ts';
import { addresseeOf } from '../notify/index.ts';
import type { LimitOfSubject } from './watched.ts';

/** The limit a counter counts for, with the amount in force now, and whose it is. */
export function limitOf(
  { subject, limit: id }: CounterKey,
  limits: LimitSet,
  directory: Directory | undefined,
  nowMs: number,
): LimitOfSubject | undefined {
  // A cap has no thresholds, and may be named like a limit of its group.
  if (isCap(subject)) return undefined;
  const [kind = '', name = ''] = subject.split('/');
  const group = kind === 'group' ? directory?.groupById.get(Number(name)) : undefined;
  const on = group === undefined ? limitsOn(limits, subject) : limitsOfGroup(limits, group, nowMs);
  const limit = on.find((each) => each.id === id);
  if (limit === undefined) return undefined;
  const path =
    group?.path ?? (kind === 'project' ? directory?.projectById.get(Number(name))?.path : undefined);
  return {
    limit: limitAt(limit, nowMs),
    subjectLabel: labelOf(kind, path ?? name, group?.personal === true),
    to: addresseeOf(subject, id, { limits, directory }),
  };
}

function labelOf(kind: string, name: string, personal: boolean): string {
  if (kind === 'instance') return 'the whole GitLab';
  return `${personal ? 'personal namespace' : kind.replace('-', ' ')} ${name}`;
}
