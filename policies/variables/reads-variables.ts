import { COUNTED_RULES } from '../kinds/counted-kinds.ts';
import { isCounted, type RuleKind, statelessRuleKind } from '../kinds/kinds.ts';
import type { Rule } from '../rule.ts';

export const readsVariables = ({ kind }: Pick<Rule, 'kind'>): boolean =>
  isCounted(kind) ? 'readsVariables' in COUNTED_RULES[kind] : statelessRuleKind(kind).readsVariables === true;

/** Records do not contain what a rule compares by name. */
export const comparesVariables = ({ kind, match }: Pick<Rule, 'kind' | 'match'>): boolean =>
  comparesByKind(kind) || match.variables !== undefined || match.not?.variables !== undefined;

const comparesByKind = (kind: RuleKind): boolean =>
  !isCounted(kind) && statelessRuleKind(kind).comparedNames !== undefined;
