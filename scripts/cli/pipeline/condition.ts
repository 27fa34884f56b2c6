import { compileRegex } from '../../../policies/match/regex.ts';
import type { World } from './explore.ts';
import type { Expression, Operator } from './expression.ts';
import type { KnownLookup } from './known-run.ts';

/** A variable as it is written, `$NAME`; `isSet`: it has some value. */
interface Unknown {
  readonly unknown: string;
  readonly isSet: boolean;
}

/** Value of an operand in one world. */
type Value = string | boolean | null | Unknown;

/**
 * Evaluates an expression of `rules:if` by GitLab's truth values: an empty text is true on the left of `&&`,
 * and false as the whole. Undecidable parts are looked up in the world.
 */
export function conditionHolds(condition: Expression, lookUp: KnownLookup, world: World): boolean {
  return isPresent(evaluate(condition));

  function evaluate(expression: Expression): Value {
    switch (expression.kind) {
      case 'variable':
        return variable(expression.name);
      case 'input':
        // Its value is used where it has a meaning.
        return null;
      case 'constant':
        return expression.value;
      case 'pattern':
        return expression.pattern;
      case 'not':
        return !isPresent(evaluate(expression.of));
      case 'operator':
        return operate(expression.operator, expression.left, expression.right);
    }
  }

  function variable(name: string): Value {
    const known = lookUp(name);
    if (typeof known === 'object') return known.value;
    return world.valueOf(name) ?? { unknown: `$${name}`, isSet: known === 'set' };
  }

  function operate(operator: Operator, left: Expression, right: Expression): Value {
    switch (operator) {
      case '&&': {
        const value = evaluate(left);
        return isTruthy(value) ? evaluate(right) : value;
      }
      case '||': {
        const value = evaluate(left);
        return isTruthy(value) ? value : evaluate(right);
      }
      case '==':
        return equal(evaluate(left), evaluate(right));
      case '!=':
        return !equal(evaluate(left), evaluate(right));
      case '=~':
        return matches(evaluate(left), evaluate(right)) ?? false;
      case '!~':
        return !(matches(evaluate(left), evaluate(right)) ?? false);
    }
  }

  function isPresent(value: Value): boolean {
    if (isUnknown(value)) return value.isSet || world.holds(value.unknown);
    return typeof value === 'string' ? value.trim() !== '' : value === true;
  }

  function isTruthy(value: Value): boolean {
    if (isUnknown(value)) return value.isSet || world.holds(value.unknown);
    return value !== null && value !== false;
  }

  function equal(left: Value, right: Value): boolean {
    if (isUnknown(left)) return equalsUnknown(left, right);
    return isUnknown(right) ? equalsUnknown(right, left) : left === right;
  }

  function equalsUnknown({ unknown, isSet }: Unknown, other: Value): boolean {
    if (other === null) return !isSet && !world.holds(unknown);
    if (isUnknown(other)) return world.holds(`${unknown} == ${other.unknown}`);
    const holds = world.holds(`${unknown} == "${other}"`);
    if (holds && typeof other === 'string') world.assume(unknown.slice(1), other);
    return holds;
  }

  /** `undefined`: what stands on the right is no pattern. */
  function matches(left: Value, right: Value): boolean | undefined {
    const name = isUnknown(left) ? left.unknown : undefined;
    if (isUnknown(right)) return world.holds(`${name ?? JSON.stringify(left)} =~ ${right.unknown}`);
    const [, pattern, flags] = typeof right === 'string' ? (/^\/(.+)\/([ismU]*)$/s.exec(right) ?? []) : [];
    if (pattern === undefined) return undefined;
    if (name !== undefined) return world.holds(`${name} =~ ${right}`);
    const plain = pattern.replaceAll('\\/', '/');
    const compiled = compileRegex(flags === '' ? plain : `(?${flags})${plain}`);
    // Too large for us, or not RE2's syntax: GitLab might see it otherwise.
    return compiled.ok
      ? compiled.regex.matches(left === null ? '' : String(left))
      : world.holds(`${JSON.stringify(left)} =~ ${right}`);
  }
}

const isUnknown = (value: Value): value is Unknown => typeof value === 'object' && value !== null;
