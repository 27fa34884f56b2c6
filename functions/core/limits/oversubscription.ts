import type { Directory } from '../../../policies/directory.ts';
import { isCap } from '../../../policies/limits/cap.ts';
import type { Limit } from '../../../policies/limits/limit.ts';
import type { LimitSet } from '../../../policies/limits/limits.ts';
import { isValidAt } from '../../../policies/limits/period.ts';
import type { Oversubscription } from './edit-model.ts';
import { subjectPath } from './limit-changes.ts';
import { groupsAround } from './subject-text.ts';

const LARGER_MAX = 10;

/**
 * Limits that are given to the groups and projects below more than once: pools. A limit is taken from the closest one
 * above it of the same unit and period. Each limit walks up its own chain once, 20 levels at most.
 */
export function oversubscriptionOf(
  { bySubject }: LimitSet,
  directory: Directory | undefined,
  nowMs: number,
): readonly Oversubscription[] {
  const below = new Map<Limit, Limit[]>();
  for (const [subject, limits] of bySubject) {
    const above = ancestorsOf(subject, directory);
    for (const limit of limits) {
      const parent = counts(limit, nowMs) ? closest(limit, above, bySubject, nowMs) : undefined;
      if (parent !== undefined) inList(below, parent).push(limit);
    }
  }
  return [...below].flatMap(([{ subject, id, unit, amount }, children]) => {
    if (amount === 'unlimited') return [];
    const amounts = children.flatMap((child) => (child.amount === 'unlimited' ? [] : child.amount));
    // Ten thousand groups with the largest limits are still shown as many.
    const childrenAmount = amounts.reduce((sum, each) => Math.min(Number.MAX_SAFE_INTEGER, sum + each), 0);
    const larger = children.filter((child) => child.amount === 'unlimited' || child.amount > amount);
    if (childrenAmount <= amount && larger.length === 0) return [];
    const path = subjectPath(subject, directory);
    return {
      subject,
      ...(path !== undefined && { path }),
      ...{ limit: id, unit, amount, childrenAmount, children: children.length },
      unlimited: children.length - amounts.length,
      larger: larger
        .slice(0, LARGER_MAX)
        .map((child) => subjectPath(child.subject, directory) ?? child.subject),
    };
  });
}

function inList(lists: Map<Limit, Limit[]>, parent: Limit): Limit[] {
  const list = lists.get(parent) ?? [];
  lists.set(parent, list);
  return list;
}

/** Limits per pipeline do not add up. */
const counts = (limit: Limit, nowMs: number): boolean =>
  limit.mode !== 'off' && !isCap(limit.subject) && isValidAt(limit, nowMs);

function closest(
  limit: Limit,
  above: readonly string[],
  bySubject: LimitSet['bySubject'],
  nowMs: number,
): Limit | undefined {
  for (const subject of above) {
    const found = bySubject
      .get(subject)
      ?.find(
        (each) =>
          each.kind === limit.kind &&
          each.per === limit.per &&
          each.amount !== 'unlimited' &&
          counts(each, nowMs),
      );
    if (found !== undefined) return found;
  }
  return undefined;
}

/** Closest first; the instance is above every root. */
function ancestorsOf(subject: string, directory: Directory | undefined): readonly string[] {
  if (!/^(?:group|project)\//.test(subject)) return [];
  const chain = groupsAround(subject, directory).map((group) => `group/${group.id}`);
  return [...(subject.startsWith('group/') ? chain.slice(0, -1) : chain).reverse(), 'instance'];
}

/** Those that rows of these subjects touch: their own, and those of everything above them. */
export function touchedBy(
  all: readonly Oversubscription[],
  subjects: ReadonlySet<string>,
  directory: Directory | undefined,
): readonly Oversubscription[] {
  const touched = new Set([...subjects].flatMap((subject) => [subject, ...ancestorsOf(subject, directory)]));
  return all.filter(({ subject }) => touched.has(subject));
}
