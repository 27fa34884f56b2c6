import type { CounterKey } from '../claim.ts';
import type { Directory } from '../place/directory.ts';
import { capOf, capSubject } from './cap.ts';
import type { Limit } from './limit.ts';
import { type LimitSet, limitsOfGroup, limitsOn } from './limits.ts';

/**
 * The limit that a counter counts for: the subject's own, of a cap the one written for each, else the one that a group or personal namespace has by default
 * at that instant. As it was written: what is in force is `limitAt`'s to say. Undefined: there is none (any more).
 */
export function limitOfCounter(
  { subject, limit: id }: Pick<CounterKey, 'subject' | 'limit'>,
  limits: LimitSet,
  directory: Directory | undefined,
  nowMs: number,
): Limit | undefined {
  const own = limitsOn(limits, subject).find((limit) => limit.id === id);
  if (own !== undefined) return own;
  const cap = capOf(subject);
  if (cap !== undefined) {
    const limit = limitsOn(limits, capSubject(cap.place, cap.kind)).find((each) => each.id === id);
    return limit && { ...limit, subject };
  }
  const group = groupOf(subject, directory);
  return group && limitsOfGroup(limits, group, nowMs).find((limit) => limit.id === id);
}

function groupOf(subject: string, directory: Directory | undefined) {
  const [kind, name] = subject.split('/');
  return kind === 'group' ? directory?.groupById.get(Number(name)) : undefined;
}
