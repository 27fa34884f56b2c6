import { COMPARED_MAX, checkCompared, readValuesByName } from '../../document/parse-variables.ts';
import { at, keysOf, type Reading } from '../../document/reading.ts';
import type { Wildcard } from '../../match/wildcard.ts';
import type { AdmissionRequest } from '../../request/request.ts';
import { comparedValue } from '../../variables/compared-value.ts';
import type { Check, FieldMissingReason, StatelessRuleKind } from '../rule-kind.ts';
import type { VariableReason } from './variables-text.ts';

/** A job page with more of them helps nobody. */
const REASONS_MAX = 10;
/** As many as fit on a line. */
const ALLOWED_TOLD_MAX = 10;
const NOT_SENT: readonly FieldMissingReason[] = [{ code: 'FIELD_MISSING', field: 'variables' }];

/**
 * Which of a job's variables must be set (`require`), and to what: a value must match one of the patterns that `allow` has
 * for its name, and none that `deny` has. An empty value counts as not set. Names under none of the three are not looked
 * at. A variable that is masked, a file, or built from what nobody can tell, is a missing field: `on_missing` decides.
 *
 * Values are compared as the job gets them and told to nobody: neither is the pattern that denies one, which may be it.
 */
export const variables: StatelessRuleKind<VariableReason> = {
  class: 'security',
  keys: ['require', 'allow', 'deny'],
  read: readVariableRule,
  comparedNames,
};

type Compare = (value: string | undefined) => VariableReason | undefined;

interface Comparison {
  readonly variable: string;
  readonly compare: Compare;
}

function readVariableRule(reading: Reading): Check<VariableReason> {
  const required = readNames(reading.at('require'));
  const allow = readValuesByName(reading.at('allow'));
  const deny = readValuesByName(reading.at('deny'));
  if (!['require', 'allow', 'deny'].some((key) => reading.at(key).isThere))
    reading.refuse('has nothing to check; expected require, allow or deny');
  const comparisons: readonly Comparison[] = [
    ...required.map((variable) => ({ variable, compare: isSet(variable) })),
    ...[...allow].map(([variable, patterns]) => ({ variable, compare: isOneOf(variable, patterns) })),
    ...[...deny].map(([variable, patterns]) => ({ variable, compare: isNoneOf(variable, patterns) })),
  ];
  return ({ request }) => (request.variables === undefined ? NOT_SENT : reasonsFor(request, comparisons));
}

function readNames(reading: Reading): readonly string[] {
  return reading.list('names of variables', COMPARED_MAX).flatMap((each) => {
    const name = each.text('the name of a variable');
    return name !== undefined && checkCompared(each, name) ? [name] : [];
  });
}

function reasonsFor(
  request: AdmissionRequest,
  comparisons: readonly Comparison[],
): readonly (VariableReason | FieldMissingReason)[] {
  const reasons: (VariableReason | FieldMissingReason)[] = [];
  const missing = new Set<string>();
  for (const { variable, compare } of comparisons) {
    if (reasons.length === REASONS_MAX) break;
    const compared = comparedValue(request, variable);
    if (compared.known) {
      const reason = compare(compared.value);
      if (reason !== undefined) reasons.push(reason);
    } else if (!missing.has(compared.field)) {
      missing.add(compared.field);
      reasons.push({ code: 'FIELD_MISSING', field: compared.field });
    }
  }
  return reasons;
}

const isSet =
  (variable: string): Compare =>
  (value) =>
    value === undefined ? { code: 'VARIABLE_NOT_ALLOWED', variable, why: 'required' } : undefined;

function isOneOf(variable: string, patterns: readonly Wildcard[]): Compare {
  const allowed = patterns.slice(0, ALLOWED_TOLD_MAX).map(({ pattern }) => pattern);
  return (value) =>
    value === undefined || patterns.some(({ matches }) => matches(value))
      ? undefined
      : { code: 'VARIABLE_NOT_ALLOWED', variable, why: 'pattern', allowed };
}

const isNoneOf =
  (variable: string, patterns: readonly Wildcard[]): Compare =>
  (value) =>
    value !== undefined && patterns.some(({ matches }) => matches(value))
      ? { code: 'VARIABLE_NOT_ALLOWED', variable, why: 'denied' }
      : undefined;

function comparedNames(rule: unknown): readonly string[] {
  const required = at(rule, 'require');
  return [
    ...(Array.isArray(required) ? required.filter((each) => typeof each === 'string') : []),
    ...keysOf(at(rule, 'allow')),
    ...keysOf(at(rule, 'deny')),
  ];
}
