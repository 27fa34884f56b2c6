import type { Conditions, Matched } from './match/conditions.ts';
import { NO_CLASS } from './price.ts';
import type { Rule } from './rule.ts';

/** Rules that name their subjects are found by them, so that other jobs do not look at them. */
export interface RuleIndex {
  /** Rules whose subjects cannot be looked up: every job is asked. In document order, like all lists here. */
  readonly anywhere: readonly Rule[];
  /** One entry for each dimension that some rule is found by. */
  readonly byDimension: readonly IndexedDimension[];
}

interface IndexedDimension {
  readonly dimension: Dimension;
  readonly all: readonly Rule[];
  readonly byKey: ReadonlyMap<Key, readonly Rule[]>;
}

type Key = number | string;

/** Something rules name and jobs have. */
interface Dimension {
  /** What a rule names; undefined if it cannot be looked up, as a path with wildcards. */
  readonly named: (match: Conditions) => Iterable<Key> | undefined;
  /** What a job has; undefined if that is not fully known: then it is asked about every rule of the dimension. */
  readonly had: (job: Matched) => readonly Key[] | undefined;
}

const classesOf = ({ runnerClass, unclassed }: Matched): readonly string[] =>
  unclassed ? [runnerClass.name, NO_CLASS] : [runnerClass.name];

/** The one that tells most rules apart goes first; a rule is found by one of them. */
const DIMENSIONS: readonly Dimension[] = [
  { named: ({ projects }) => idsOf(projects), had: ({ placement }) => some(placement.projectId) },
  { named: ({ users }) => users, had: ({ placement }) => some(placement.userId) },
  { named: ({ runnerIds }) => runnerIds, had: ({ request }) => some(request.runnerId) },
  {
    named: ({ groups }) => idsOf(groups),
    had: ({ placement }) => (placement.known ? placement.ancestors.map(({ id }) => id) : undefined),
  },
  { named: ({ runnerClasses }) => runnerClasses, had: classesOf },
];

export function ruleIndexOf(rules: readonly Rule[]): RuleIndex {
  const anywhere: Rule[] = [];
  const indexed = DIMENSIONS.map((dimension) => ({
    dimension,
    all: [] as Rule[],
    byKey: new Map<Key, Rule[]>(),
  }));
  for (const rule of rules) {
    // A rule that can reject nothing and record nothing is not asked.
    if (rule.mode === 'off') continue;
    const found = indexed.find(({ dimension }) => dimension.named(rule.match) !== undefined);
    if (found === undefined) {
      anywhere.push(rule);
      continue;
    }
    found.all.push(rule);
    for (const key of new Set(found.dimension.named(rule.match))) {
      const list = found.byKey.get(key);
      if (list === undefined) found.byKey.set(key, [rule]);
      else list.push(rule);
    }
  }
  return { anywhere, byDimension: indexed.filter(({ all }) => all.length > 0) };
}

/** The rules that could match a job, each once, in document order. */
export function candidateRules(index: RuleIndex, job: Matched): readonly Rule[] {
  let found = index.anywhere;
  for (const { dimension, all, byKey } of index.byDimension) {
    const keys = dimension.had(job);
    if (keys === undefined) found = merged(found, all);
    else for (const key of keys) found = merged(found, byKey.get(key));
  }
  return found;
}

/** Two lists in document order as one; a rule that is in both is taken once. */
function merged(one: readonly Rule[], other: readonly Rule[] | undefined): readonly Rule[] {
  if (other === undefined) return one;
  if (one.length === 0) return other;
  const all: Rule[] = [];
  let at = 0;
  for (const rule of one) {
    for (let next = other[at]; next !== undefined && next.order <= rule.order; next = other[at]) {
      if (next !== rule) all.push(next);
      at += 1;
    }
    all.push(rule);
  }
  for (; at < other.length; at += 1) {
    const rest = other[at];
    if (rest !== undefined) all.push(rest);
  }
  return all;
}

/** All ids, if there are conditions and every one of them names an id. */
function idsOf(
  conditions: readonly ({ readonly id: number } | object)[] | undefined,
): readonly number[] | undefined {
  if (conditions === undefined) return undefined;
  const ids = conditions.flatMap((condition) => ('id' in condition ? [condition.id] : []));
  return ids.length === conditions.length ? ids : undefined;
}

const some = (key: Key | undefined): readonly Key[] | undefined => (key === undefined ? undefined : [key]);
