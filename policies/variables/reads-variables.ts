import { COUNTED_RULES } from '../kinds/counted-kinds.ts';
import { isCounted, statelessRuleKind } from '../kinds/kinds.ts';
import type { Rule } from '../rule.ts';

export const readsVariables = ({ kind }: Pick<Rule, 'kind'>): boolean =>
  isCounted(kind) ? 'readsVariables' in COUNTED_RULES[kind] : statelessRuleKind(kind).readsVariables === true;

export const comparesVariables = ({ compared }: Pick<Rule, 'compared'>): boolean => compared.length > 0;
