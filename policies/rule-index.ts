import type { Placement } from './placement.ts';
import type { Rule } from './rule.ts';

/** Rules that name groups or projects by id are found by id, so that other jobs do not look at them. */
export interface RuleIndex {
  /** In document order. */
  readonly all: readonly Rule[];
  /** No condition that an id could look up. */
  readonly anywhere: readonly Rule[];
  readonly byGroup: ReadonlyMap<number, readonly Rule[]>;
  readonly byProject: ReadonlyMap<number, readonly Rule[]>;
}

export function ruleIndexOf(rules: readonly Rule[]): RuleIndex {
  const anywhere: Rule[] = [];
  const byGroup = new Map<number, Rule[]>();
  const byProject = new Map<number, Rule[]>();
  for (const rule of rules) {
    // A rule that can reject nothing and record nothing is not asked.
    if (rule.mode === 'off') continue;
    const groups = idsOf(rule.match.groups);
    const projects = idsOf(rule.match.projects);
    if (groups !== undefined) for (const id of groups) append(byGroup, id, rule);
    else if (projects !== undefined) for (const id of projects) append(byProject, id, rule);
    else anywhere.push(rule);
  }
  return { all: rules.filter((rule) => rule.mode !== 'off'), anywhere, byGroup, byProject };
}

/** The rules that could match a job at this place, each once, in document order. A place not fully known is asked about every rule. */
export function candidateRules(index: RuleIndex, placement: Placement): readonly Rule[] {
  if (index.byGroup.size === 0 && index.byProject.size === 0) return index.anywhere;
  if (!placement.known || placement.projectId === undefined) return index.all;
  let found = index.anywhere;
  for (const group of placement.ancestors) found = merged(found, index.byGroup.get(group.id));
  return merged(found, index.byProject.get(placement.projectId));
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
  return ids.length === conditions.length ? [...new Set(ids)] : undefined;
}

function append(map: Map<number, Rule[]>, id: number, rule: Rule): void {
  const list = map.get(id);
  if (list === undefined) map.set(id, [rule]);
  else list.push(rule);
}
