import { conditionHolds } from './condition.ts';
import type { World } from './explore.ts';
import { type Expression, parseExpression } from './expression.ts';
import { isMap, type YamlMap } from './yaml-map.ts';

/** An input after its `rules:`. */
interface RuledInput {
  readonly options?: readonly unknown[];
  readonly default?: unknown;
}

/** The other inputs of the file, as far as they are settled when an input is worked out. */
export interface OtherInputs {
  /** True if the file declares it. */
  isDeclared(name: string): boolean;
  /** True if it has a value: given, or declared above. */
  isSettled(name: string): boolean;
  valueOf(name: string): unknown;
}

/** Says why an input cannot be worked out. Never returns. */
type Refuse = (what: string) => never;

/**
 * Options and default of an input with `rules:`, by the first rule that holds; a rule without `if` always does. Where GitLab
 * would do something that versions differ in, it is refused.
 *
 * @see https://docs.gitlab.com/ci/inputs/
 */
export function ruledInput(spec: YamlMap, around: OtherInputs, refuse: Refuse): RuledInput {
  for (const key of ['default', 'options'])
    if (spec[key] !== undefined) return refuse(`has both rules and ${key}`);
  const rules: readonly unknown[] = Array.isArray(spec.rules)
    ? spec.rules
    : refuse('has rules that are no list');
  const matching = rules.find((rule) => {
    if (!isMap(rule)) return refuse(`has a rule that is no mapping: ${JSON.stringify(rule)}`);
    return rule.if === undefined || rule.if === null || inputConditionHolds(String(rule.if), around, refuse);
  });
  const given = isMap(matching) ? matching : {};
  return {
    ...(Array.isArray(given.options) && { options: given.options }),
    ...(given.default !== undefined && { default: given.default }),
  };
}

function inputConditionHolds(text: string, around: OtherInputs, refuse: Refuse): boolean {
  const expression = parseExpression(text);
  if (expression === undefined)
    return refuse(`has the rule "${text}", which is no expression GitLab understands`);
  const world: World = {
    answers: new Map(),
    holds: (condition) => refuse(`has a rule that nobody can tell from here: ${condition}`),
    valueOf: () => undefined,
    assume: () => {},
  };
  // Rules of inputs see no variables.
  return conditionHolds(withInputs(expression, around, refuse), () => ({ value: null }), world);
}

/** The expression with values in the place of inputs. */
function withInputs(expression: Expression, around: OtherInputs, refuse: Refuse): Expression {
  switch (expression.kind) {
    case 'input':
      return { kind: 'constant', value: comparable(expression.name, around, refuse) };
    case 'not':
      return { kind: 'not', of: withInputs(expression.of, around, refuse) };
    case 'operator':
      return {
        ...expression,
        left: withInputs(expression.left, around, refuse),
        right: withInputs(expression.right, around, refuse),
      };
    default:
      return expression;
  }
}

function comparable(name: string, around: OtherInputs, refuse: Refuse): string | boolean | null {
  if (!around.isDeclared(name)) return refuse(`has a rule that names no input "${name}" of this file`);
  if (!around.isSettled(name))
    return refuse(`has a rule about the input "${name}", which is declared below it; declare that one first`);
  const value = around.valueOf(name) ?? null;
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return value;
  return refuse(`has a rule that compares "${name}", a${Array.isArray(value) ? 'n array' : ' number'}`);
}
