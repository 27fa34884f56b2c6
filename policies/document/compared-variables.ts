import { statelessKindOf } from '../kinds/kinds.ts';
import { COMPARED_MAX } from './parse-variables.ts';
import { at, keysOf, type Reading } from './reading.ts';

/** The names of all variables that rules compare, each once. What is wrong with a name is noted where its rule is read. */
export function comparedVariables(rules: Reading): readonly string[] {
  const written = Array.isArray(rules.value) ? (rules.value as readonly unknown[]) : [];
  const names = new Set(written.flatMap(namesIn));
  if (names.size > COMPARED_MAX)
    rules.refuse(`compare ${names.size} variables; expected at most ${COMPARED_MAX}`);
  return [...names];
}

function namesIn(rule: unknown): readonly string[] {
  const match = at(rule, 'match');
  return [
    ...keysOf(at(match, 'variables')),
    ...keysOf(at(at(match, 'not'), 'variables')),
    ...(statelessKindOf(at(rule, 'kind'))?.comparedNames?.(rule) ?? []),
  ];
}
