import type { CheckedJob } from './checked-job.ts';
import type { MatchInput } from './match/compare.ts';
import type { Conditions } from './match/conditions.ts';
import { exemptionOf, matchOf } from './match/match.ts';
import type { Mode } from './mode.ts';
import { NO_CLASS } from './price.ts';
import type { Reason, Violation } from './reason.ts';
import type { Rule, StatelessRule } from './rule.ts';

/** Rules that name their subjects are found by them, so that other jobs do not look at them. */
export interface RuleIndex {
  /** Rules whose subjects cannot be looked up: every job is asked. In document order, like all lists here. */
  readonly anywhere: readonly Rule[];
  readonly byDimension: readonly IndexedDimension[];
}

interface IndexedDimension {
  readonly dimension: Dimension;
  readonly all: readonly Rule[];
  readonly byKey: ReadonlyMap<Key, readonly Rule[]>;
}

type Key = number | string;

interface Dimension {
  readonly named: (match: Conditions) => Iterable<Key> | undefined;
  readonly had: (job: MatchInput) => readonly Key[] | undefined;
}

/** The most selective dimension comes first; each rule is indexed by one. */
const DIMENSIONS: readonly Dimension[] = [
  { named: ({ projects }) => listIds(projects), had: ({ placement }) => some(placement.projectId) },
  { named: ({ users }) => users, had: ({ placement }) => some(placement.userId) },
  { named: ({ runnerIds }) => runnerIds, had: ({ request }) => some(request.runnerId) },
  {
    named: ({ groups }) => listIds(groups),
    had: ({ placement }) => (placement.known ? placement.ancestors.map(({ id }) => id) : undefined),
  },
  {
    named: ({ runnerClasses }) => runnerClasses,
    had: ({ runnerClass: { name }, unclassed }) => (unclassed ? [name, NO_CLASS] : [name]),
  },
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

export function candidateRules(index: RuleIndex, job: MatchInput): readonly Rule[] {
  let found = index.anywhere;
  for (const { dimension, all, byKey } of index.byDimension) {
    const keys = dimension.had(job);
    if (keys === undefined) found = merged(found, all);
    else for (const key of keys) found = merged(found, byKey.get(key));
  }
  return found;
}

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

function listIds(
  conditions: readonly ({ readonly id: number } | object)[] | undefined,
): readonly number[] | undefined {
  if (conditions === undefined) return undefined;
  const ids = conditions.flatMap((condition) => ('id' in condition ? [condition.id] : []));
  return ids.length === conditions.length ? ids : undefined;
}

const some = (key: Key | undefined): readonly Key[] | undefined => (key === undefined ? undefined : [key]);

export interface EvaluationError {
  readonly rule: string;
  /** The failure's name; never its message, which could quote a value of the request. */
  readonly cause: string;
}

export interface ExemptRule {
  readonly rule: string;
  readonly reason: string;
}

/** Collects what rules come to, so that one that fails neither hides the others nor decides more than it may. */
export class Outcome {
  readonly violations: Violation[] = [];
  readonly exemptions: ExemptRule[] = [];
  readonly errors: EvaluationError[] = [];

  add(rule: Rule, mode: Mode, reason: Reason, exempt = false): void {
    if (mode === 'off') return;
    const { id, class: ruleClass } = rule;
    if (exempt) this.violations.push({ rule: id, class: ruleClass, mode: 'shadow', reason, exempt });
    else this.violations.push({ rule: id, class: ruleClass, mode, reason });
  }

  missing(rule: Rule, mode: Mode, field: string): void {
    if (rule.onMissing === 'skip') return;
    const recorded = rule.onMissing === 'admit' && mode !== 'off' ? 'shadow' : mode;
    // A rule that asks limits misses the same field on every level.
    const isKnown = this.violations.some(
      (each) =>
        each.rule === rule.id &&
        each.mode === recorded &&
        each.reason.code === 'FIELD_MISSING' &&
        each.reason.field === field,
    );
    if (isKnown) return;
    this.add(rule, recorded, { code: 'FIELD_MISSING', field });
  }

  /** Runs a rule; its failure is noted, and rejects only if the rule is closed and may reject. */
  guard<Result>(rule: Rule, mode: Mode, run: () => Result): Result | undefined {
    try {
      return run();
    } catch (error) {
      const cause = this.failed(rule.id, error);
      const isKnown = this.violations.some(
        (each) => each.rule === rule.id && each.mode === mode && each.reason.code === 'CONTROLLER_ERROR',
      );
      if (rule.onError === 'closed' && !isKnown) this.add(rule, mode, { code: 'CONTROLLER_ERROR', cause });
      return undefined;
    }
  }

  failed(rule: string, error: unknown): string {
    const cause = error instanceof Error ? error.name : 'unknown failure';
    if (!this.errors.some((each) => each.rule === rule)) this.errors.push({ rule, cause });
    return cause;
  }

  exempted(rule: Rule, job: CheckedJob): boolean {
    if (rule.exempt.length === 0) return false;
    try {
      const { exemption } = exemptionOf(rule.exempt, job, job.nowMs);
      if (exemption === undefined) return false;
      this.exemptions.push({ rule: rule.id, reason: exemption.reason });
      return true;
    } catch (error) {
      this.failed(rule.id, error);
      return false;
    }
  }

  check(rule: StatelessRule, mode: Mode, job: CheckedJob): void {
    const exempt = this.exempted(rule, job);
    const effective = exempt ? 'shadow' : mode;
    for (const reason of this.guard(rule, effective, () => rule.check(job)) ?? []) {
      if (reason.code !== 'FIELD_MISSING') this.add(rule, effective, reason, exempt);
      else if (!exempt) this.missing(rule, mode, reason.field);
    }
  }
}

/** A security rule also applies to groups that the directory does not know yet. */
export function applies(rule: Rule, mode: Mode, job: CheckedJob, outcome: Outcome): boolean {
  const result = outcome.guard(rule, mode, () => matchOf(rule.match, job));
  if (result?.matches !== 'missing') return result?.matches === true;
  if (rule.class === 'security' && result.field === 'namespaceId' && job.placement.groupId !== undefined)
    return true;
  // An exemption for this job makes it irrelevant whether the rule matches.
  if (!outcome.exempted(rule, job)) outcome.missing(rule, mode, result.field);
  return false;
}
