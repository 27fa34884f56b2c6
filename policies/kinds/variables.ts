import { COMPARED_MAX, checkCompared, readValuesByName } from '../document/parse-match.ts';
import type { Reading } from '../document/reading.ts';
import type { AdmissionRequest } from '../request/request.ts';
import { listText, oneLine, shortened } from '../text/plain-text.ts';
import type { ReasonText } from '../text/reason-text.ts';
import { comparedValue } from '../variables/compared-value.ts';
import type { FieldMissingReason, StatelessRuleKind } from './rule-kind.ts';

const REASONS_MAX = 10;
const ALLOWED_MAX = 10;
const NOT_SENT: readonly FieldMissingReason[] = [{ code: 'FIELD_MISSING', field: 'variables' }];

/**
 * Checks variables of a job: `require` names those that must be set, `allow` and `deny` hold patterns by
 * name. A value must match a pattern of `allow` and none of `deny`. An empty value counts as not set. Other
 * names are ignored.
 *
 * A variable that is masked, a file, or built from an unknown one is a missing field: `on_missing` decides.
 *
 * Neither values nor the patterns of `deny` are ever shown, because a pattern may contain the value.
 */
export const variables: StatelessRuleKind<VariableReason> = {
  class: 'security',
  keys: ['require', 'allow', 'deny'],
  read(reading) {
    const required = readNames(reading.at('require'));
    const allow = reading.optional('allow', readValuesByName) ?? [];
    const deny = reading.optional('deny', readValuesByName) ?? [];
    if (!['require', 'allow', 'deny'].some((key) => reading.at(key).isThere))
      reading.refuse('has nothing to check; expected require, allow or deny');
    const comparisons: readonly Comparison[] = [
      ...required.map((variable) => ({
        variable,
        why: 'required' as const,
        fails: (value?: string) => value === undefined,
      })),
      ...[...allow].map(([variable, patterns]) => ({
        ...{ variable, why: 'pattern' as const },
        allowed: patterns.slice(0, ALLOWED_MAX).map(({ pattern }) => pattern),
        fails: (value?: string) => value !== undefined && !patterns.some(({ matches }) => matches(value)),
      })),
      ...[...deny].map(([variable, patterns]) => ({
        ...{ variable, why: 'denied' as const },
        fails: (value?: string) => value !== undefined && patterns.some(({ matches }) => matches(value)),
      })),
    ];
    return ({ request }) => (request.variables === undefined ? NOT_SENT : reasonsFor(request, comparisons));
  },
  comparedNames,
};

interface Comparison extends Omit<VariableReason, 'code'> {
  readonly fails: (value: string | undefined) => boolean;
}

const readNames = (reading: Reading): readonly string[] =>
  reading.each('names of variables', COMPARED_MAX, (each) => {
    const name = each.text('the name of a variable');
    return name !== undefined && checkCompared(each, name) ? name : undefined;
  });

function reasonsFor(
  request: AdmissionRequest,
  comparisons: readonly Comparison[],
): readonly (VariableReason | FieldMissingReason)[] {
  const reasons: (VariableReason | FieldMissingReason)[] = [];
  const missing = new Set<string>();
  for (const { fails, ...reason } of comparisons) {
    if (reasons.length === REASONS_MAX) break;
    const compared = comparedValue(request, reason.variable);
    if (compared.known) {
      if (fails(compared.value)) reasons.push({ code: 'VARIABLE_NOT_ALLOWED', ...reason });
    } else if (!missing.has(compared.field)) {
      missing.add(compared.field);
      reasons.push({ code: 'FIELD_MISSING', field: compared.field });
    }
  }
  return reasons;
}

function comparedNames(rule: Reading): readonly string[] {
  const { value: required } = rule.at('require');
  const names = Array.isArray(required) ? required.filter((each) => typeof each === 'string') : [];
  return [...names, ...rule.at('allow').keys, ...rule.at('deny').keys];
}

export interface VariableReason {
  readonly code: 'VARIABLE_NOT_ALLOWED';
  readonly variable: string;
  /** `required`: not set. `pattern`: matches none of `allowed`. `denied`: must not be what it is. */
  readonly why: 'required' | 'pattern' | 'denied';
  readonly allowed?: readonly string[];
}

const NAME_CHARACTERS_MAX = 60;

export const variableNotAllowed: ReasonText<VariableReason> = {
  headline: (reason) =>
    reason.why === 'required'
      ? `Variable ${name(reason)} has to be set here.`
      : `Variable ${name(reason)} has a value that is not allowed here.`,
  line: (reason) => {
    const { why, allowed = [] } = reason;
    if (why === 'required') return `${name(reason)}: not set`;
    return `${name(reason)}: its value ${why === 'denied' ? 'is denied' : `matches none of ${listText(allowed, 'or')}`}`;
  },
  advice: (reason, { disclosure }) => {
    const { why, allowed = [] } = reason;
    if (why === 'required')
      return [
        `Retrying will fail again. Set ${name(reason)} in the job, the pipeline or the CI/CD settings.`,
      ];
    const value =
      disclosure === 'none' || allowed.length === 0
        ? 'another value'
        : `a value that matches ${listText(allowed, 'or')}`;
    return [`Retrying will fail again. Give the variable ${value}, or remove it.`];
  },
};

const name = ({ variable }: VariableReason): string => shortened(oneLine(variable), NAME_CHARACTERS_MAX);
