import type { Directory } from '../../../policies/directory.ts';
import { isCap } from '../../../policies/limits/cap.ts';
import type { Limit } from '../../../policies/limits/limit.ts';
import type { LimitSet } from '../../../policies/limits/limits.ts';
import { isValidAt } from '../../../policies/limits/period.ts';
import type { Oversubscription } from './edit-model.ts';
import { subjectPath } from './limit-changes.ts';
import { groupsAround } from './subject-text.ts';

const LARGER_MAX = 10;

interface Sum {
  readonly limit: Limit;
  readonly amount: number;
  childrenAmount: number;
  children: number;
  unlimited: number;
  readonly larger: string[];
}

/**
 * Limits that are given to the groups and projects below more than once: pools. A limit is taken from the closest one
 * above it of the same unit and period. Each limit walks up its own chain once, 20 levels at most.
 */
export function oversubscriptionOf(
  { bySubject }: LimitSet,
  directory: Directory | undefined,
  nowMs: number,
): readonly Oversubscription[] {
  const sums = new Map<Limit, Sum>();
  for (const [subject, limits] of bySubject) {
    const above = ancestorsOf(subject, directory);
    for (const limit of limits) {
      if (!counts(limit, nowMs)) continue;
      const parent = closest(limit, above, bySubject, nowMs);
      if (parent !== undefined && parent.amount !== 'unlimited') add(sums, parent, parent.amount, limit);
    }
  }
  return [...sums.values()]
    .filter(({ amount, childrenAmount, larger }) => childrenAmount > amount || larger.length > 0)
    .map(({ limit, amount, childrenAmount, children, unlimited, larger }) => {
      const path = subjectPath(limit.subject, directory);
      return {
        subject: limit.subject,
        ...(path !== undefined && { path }),
        limit: limit.id,
        unit: limit.unit,
        amount,
        childrenAmount,
        children,
        unlimited,
        larger: larger.map((child) => subjectPath(child, directory) ?? child),
      };
    });
}

function add(sums: Map<Limit, Sum>, parent: Limit, amount: number, child: Limit): void {
  const sum = sums.get(parent) ?? {
    limit: parent,
    amount,
    childrenAmount: 0,
    children: 0,
    unlimited: 0,
    larger: [],
  };
  sums.set(parent, sum);
  sum.children += 1;
  // Ten thousand groups with the largest limits are still shown as many.
  if (child.amount === 'unlimited') sum.unlimited += 1;
  else sum.childrenAmount = Math.min(Number.MAX_SAFE_INTEGER, sum.childrenAmount + child.amount);
  const isLarger = child.amount === 'unlimited' || child.amount > amount;
  if (isLarger && sum.larger.length < LARGER_MAX) sum.larger.push(child.subject);
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
