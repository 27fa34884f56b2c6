import { COUNTED_RULES } from '../kinds/counted-kinds.ts';
import { isCounted, type RuleKind, statelessRuleKind } from '../kinds/kinds.ts';
import type { Rule } from '../rule.ts';

/** Whether a rule looks at the values of variables that every deployment passes on. */
export const readsVariables = ({ kind }: Pick<Rule, 'kind'>): boolean =>
  isCounted(kind) ? 'readsVariables' in COUNTED_RULES[kind] : statelessRuleKind(kind).readsVariables === true;

/** Whether a rule compares variables that it names. No record tells of them: which were sent depends on the rules of then. */
export const comparesVariables = ({ kind, match }: Pick<Rule, 'kind' | 'match'>): boolean =>
  comparesByKind(kind) || match.variables !== undefined || match.not?.variables !== undefined;

const comparesByKind = (kind: RuleKind): boolean =>
  !isCounted(kind) && statelessRuleKind(kind).comparedNames !== undefined;
