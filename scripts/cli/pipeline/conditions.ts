/** Conditions of rules: read once, judged in a world, and looked at in each way that unknown ones leave open. */
import { compileRegex } from '../../../policies/match/regex.ts';
import { memoize, memoizeIn } from '../../../policies/match/remember.ts';
import type { KnownLookup } from './known-run.ts';

/** A variable as it is written, `$NAME`; `isSet`: it has some value. */
interface Unknown {
  readonly unknown: string;
  readonly isSet: boolean;
}

type Value = string | boolean | null | Unknown;

interface Lookups {
  readonly lookUp: KnownLookup;
  readonly world: World;
}

/** Looks undecidable parts up in the world. */
type Expression = (lookups: Lookups) => Value;

const isUnknown = (value: Value): value is Unknown => typeof value === 'object' && value !== null;

/** GitLab's truth values: an empty text is true on the left of `&&`, and false as the whole. */
export function isPresent(value: Value, { world }: Lookups): boolean {
  if (isUnknown(value)) return value.isSet || world.holds(value.unknown);
  return typeof value === 'string' ? value.trim() !== '' : value === true;
}

const isTruthy = (value: Value, lookups: Lookups): boolean =>
  isUnknown(value) ? isPresent(value, lookups) : value !== null && value !== false;

function equal(left: Value, right: Value, { world }: Lookups): boolean {
  if (!isUnknown(left) && !isUnknown(right)) return left === right;
  const [{ unknown, isSet }, other] = isUnknown(left) ? [left, right] : [right as Unknown, left];
  if (other === null) return !isSet && !world.holds(unknown);
  if (isUnknown(other)) return world.holds(`${unknown} == ${other.unknown}`);
  const holds = world.holds(`${unknown} == "${other}"`);
  if (holds && typeof other === 'string') world.assume(unknown.slice(1), other);
  return holds;
}

function matches(left: Value, right: Value, { world }: Lookups): boolean {
  const name = isUnknown(left) ? left.unknown : JSON.stringify(left);
  if (isUnknown(right)) return world.holds(`${name} =~ ${right.unknown}`);
  const pattern = typeof right === 'string' ? readPattern(right) : undefined;
  if (pattern === undefined) return false;
  const found = isUnknown(left) ? undefined : pattern(left === null ? '' : String(left));
  return found ?? world.holds(`${name} =~ ${right}`);
}

/** Reads `/^main$/i`. A pattern that RE2 cannot read, or that is too large, gives undefined for every text: GitLab may differ. */
export const readPattern = memoize((text): ((text: string) => boolean | undefined) | undefined => {
  const [, pattern, flags] = /^\/(.+)\/([ismU]*)$/s.exec(text) ?? [];
  if (pattern === undefined) return undefined;
  const plain = pattern.replaceAll('\\/', '/');
  const compiled = compileRegex(flags === '' ? plain : `(?${flags})${plain}`);
  return (value) => (compiled.ok ? compiled.regex.matches(value) : undefined);
});

type Operator = readonly [
  precedence: number,
  judge: (left: Value, right: Expression, lookups: Lookups) => Value,
];

const comparing = (
  judge: (left: Value, right: Value, lookups: Lookups) => boolean,
  isNegated: boolean,
): Operator => [3, (left, right, lookups) => judge(left, right(lookups), lookups) !== isNegated];

/** The higher the precedence, the closer it binds. */
const OPERATORS: Readonly<Record<string, Operator>> = {
  '||': [1, (left, right, lookups) => (isTruthy(left, lookups) ? left : right(lookups))],
  '&&': [2, (left, right, lookups) => (isTruthy(left, lookups) ? right(lookups) : left)],
  '==': comparing(equal, false),
  '!=': comparing(equal, true),
  '=~': comparing(matches, false),
  '!~': comparing(matches, true),
};

/** GitLab's own bound of words and signs in one expression. */
const TOKENS_MAX = 100;

const TOKEN =
  /\s*(?:(?<sign>\(|\)|==|=~|!=|!~|&&|\|\||!)|\$(?<variable>\w+)|"(?<double>[^"]*)"|'(?<single>[^']*)'|(?<pattern>\/(?:\\.|[^/\\])+\/[ismU]*)|\b(?<word>null|true|false)\b)/y;

export type ReadExpression = (text: string) => Expression | undefined;

/** Reads each expression once: a rule that many jobs share is judged a thousand times. */
export function expressionReader(): ReadExpression {
  const read = new Map<string, Expression | undefined>();
  return (text) => memoizeIn(read, text, Number.POSITIVE_INFINITY, () => parseExpression(text));
}

function parseExpression(text: string): Expression | undefined {
  const tokens = tokensOf(text);
  if (tokens === undefined) return undefined;
  let at = 0;
  const whole = binary(1);
  return at === tokens.length ? whole : undefined;

  function binary(precedence: number): Expression | undefined {
    let left = unary();
    for (;;) {
      const sign = tokens?.[at];
      const operator = typeof sign === 'string' ? OPERATORS[sign] : undefined;
      if (left === undefined || operator === undefined || operator[0] < precedence) return left;
      at += 1;
      const [own, judge] = operator;
      const [first, second] = [left, binary(own + 1)];
      left = second && ((lookups) => judge(first(lookups), second, lookups));
    }
  }

  function unary(): Expression | undefined {
    const token = tokens?.[at];
    at += 1;
    if (typeof token !== 'string') return token;
    if (token === '!') {
      const of = unary();
      return of && ((lookups) => !isPresent(of(lookups), lookups));
    }
    if (token !== '(') return undefined;
    const inner = binary(1);
    at += 1;
    return tokens?.[at - 1] === ')' ? inner : undefined;
  }
}

function tokensOf(text: string): readonly (string | Expression)[] | undefined {
  const tokens: (string | Expression)[] = [];
  const trimmed = text.trim();
  TOKEN.lastIndex = 0;
  while (TOKEN.lastIndex < trimmed.length) {
    const groups = TOKEN.exec(trimmed)?.groups;
    if (groups === undefined || tokens.length >= TOKENS_MAX) return undefined;
    const { sign, variable, double, single, pattern, word } = groups;
    const constant = double ?? single ?? pattern ?? (word === 'null' ? null : word === 'true');
    tokens.push(sign ?? (variable === undefined ? () => constant : variableNamed(variable)));
  }
  return tokens;
}

const variableNamed =
  (name: string): Expression =>
  ({ lookUp, world }) => {
    const known = lookUp(name);
    if (typeof known === 'object') return known.value;
    return world.valueOf(name) ?? { unknown: `$${name}`, isSet: known === 'set' };
  };

/** One way it may be, as far as it was asked about. Answers do not change while one way is looked at. */
export interface World {
  readonly answers: ReadonlyMap<string, boolean>;
  holds(condition: string): boolean;
  valueOf(variable: string): string | undefined;
  assume(variable: string, value: string): void;
}

/**
 * Looks at each way that the unknown conditions leave open. Only what `visit` asks about branches, so that ten
 * conditions behind a rule that never matches cost nothing.
 *
 * @param visit - asks the same questions whenever it gets the same answers.
 * @param around - a world in which all of this happens: what it has settled is settled here.
 * @returns at least one outcome; in the first every condition holds that was asked about.
 */
export function explore<T>(visit: (world: World) => T, max: number, around?: World) {
  const outcomes: { readonly value: T; readonly assumed: World['answers'] }[] = [];
  let script: readonly boolean[] | undefined = [];
  while (script !== undefined && outcomes.length < max) {
    const world = worldOf(script, around);
    outcomes.push({ value: visit(world), assumed: world.answers });
    // The next branch, depth first: the last `true` becomes `false`.
    const answers: readonly boolean[] = [...world.answers.values()];
    const last = answers.lastIndexOf(true);
    script = last === -1 ? undefined : [...answers.slice(0, last), false];
  }
  const conditions = [...new Set(outcomes.flatMap(({ assumed }) => [...assumed.keys()]))];
  return { outcomes, conditions, isCut: script !== undefined };
}

function worldOf(script: readonly boolean[], around: World | undefined): World {
  const answers = new Map<string, boolean>();
  const values = new Map<string, string>();
  return {
    answers,
    holds(condition) {
      const settled = around?.answers.get(condition) ?? answers.get(condition);
      if (settled !== undefined) return settled;
      const answer = script[answers.size] ?? true;
      answers.set(condition, answer);
      return answer;
    },
    valueOf: (variable) => values.get(variable) ?? around?.valueOf(variable),
    assume(variable, value) {
      values.set(variable, value);
    },
  };
}
