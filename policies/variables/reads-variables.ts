import type { Rule, RuleKind } from '../rule.ts';

const READERS: ReadonlySet<RuleKind> = new Set(['resources', 'overwrites', 'capacity']);

/** Whether a rule looks at the values of variables that every deployment passes on. */
export const readsVariables = ({ kind }: Pick<Rule, 'kind'>): boolean => READERS.has(kind);

/** Whether a rule compares variables that it names. No record tells of them: which were sent depends on the rules of then. */
export const comparesVariables = ({ kind, match }: Pick<Rule, 'kind' | 'match'>): boolean =>
  kind === 'variables' || match.variables !== undefined || match.not?.variables !== undefined;
