import type { RuleKind } from '../../../policies/kinds/kinds.ts';
import type { Limit } from '../../../policies/limits/limit.ts';
import type { LimitSet } from '../../../policies/limits/limits.ts';
import { MODES, type Mode, type RuleClass } from '../../../policies/mode.ts';
import type { Policy } from '../../../policies/policy.ts';
import type { Rule } from '../../../policies/rule.ts';
import { ASKED_BY, LIMIT_KINDS } from '../../../policies/units/unit.ts';
import { fieldsNeeded } from './warnings/absent-fields.ts';

export interface RuleSummary {
  readonly id: string;
  readonly kind: RuleKind;
  readonly class: RuleClass;
  readonly mode: Mode;
  /** True if the relay's fallback evaluates it as well. */
  readonly stateless: boolean;
  /** Limits it switches on; 0 for a stateless rule. */
  readonly limits: number;
  /** Fields of a request it cannot do without. */
  readonly needs: readonly string[];
}

export function ruleSummaries(policy: Policy, limits: LimitSet): readonly RuleSummary[] {
  const counts = limitsByRuleKind(limits);
  return policy.rules.map((rule) => {
    const { id, kind, class: ruleClass, mode, stateless } = rule;
    const needs = fieldsNeeded(rule, policy);
    return { id, kind, class: ruleClass, mode, stateless, limits: counts.get(kind) ?? 0, needs };
  });
}

export const limitCount = (limits: LimitSet): number => allOf(limits).length;

/** Those of subjects and those by default. */
const allOf = ({ bySubject, personalDefault, groupDefaults }: LimitSet): readonly Limit[] => [
  ...[...bySubject.values()].flat(),
  ...personalDefault,
  ...(groupDefaults?.all.map(({ limit }) => limit) ?? []),
];

/** `6 security (5 enforce, 1 shadow), 1 cost (enforce)`; classes and modes that no rule has are left out. */
export function classesText(rules: readonly Pick<Rule, 'class' | 'mode'>[]): string {
  const classes: readonly RuleClass[] = ['security', 'capacity', 'cost'];
  return classes
    .flatMap((each) => {
      const own = rules.filter((rule) => rule.class === each);
      return own.length === 0 ? [] : [`${own.length} ${each} (${modesText(own)})`];
    })
    .join(', ');
}

const modesText = (rules: readonly Pick<Rule, 'mode'>[]): string =>
  [...MODES]
    .reverse()
    .flatMap((mode) => {
      const count = rules.filter((rule) => rule.mode === mode).length;
      return count === 0 ? [] : [`${count} ${mode}`];
    })
    .join(', ');

function limitsByRuleKind(limits: LimitSet): ReadonlyMap<RuleKind, number> {
  const counts = new Map<RuleKind, number>();
  const all = allOf(limits);
  for (const kind of LIMIT_KINDS) {
    const own = all.filter((limit) => limit.kind === kind).length;
    counts.set(ASKED_BY[kind], (counts.get(ASKED_BY[kind]) ?? 0) + own);
  }
  return counts;
}
