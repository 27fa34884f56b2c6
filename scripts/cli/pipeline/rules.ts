import { compileRegex } from '../../../policies/match/regex.ts';
import type { KnownLookup, KnownRun } from './known-run.ts';
import type { UnreadNotes, WorkBudget } from './pipeline-error.ts';
import type { RepositoryFiles } from './repository-files.ts';
import { expandKnown, readPipelineVariables, type Variables } from './variables.ts';
import { isMap, type YamlMap } from './yaml-map.ts';

export interface Circumstances {
  readonly run: KnownRun;
  readonly lookUp: KnownLookup;
  readonly world: World;
  readonly files: RepositoryFiles;
  readonly expressions: ReadExpression;
  readonly unread: UnreadNotes;
  readonly budget: WorkBudget;
}

export interface RulesOutcome {
  /** The first rule that matches says `never`, or none matches. */
  readonly isNever: boolean;
  readonly variables: Variables;
}

const NEVER: RulesOutcome = { isNever: true, variables: {} };

/**
 * The outcome of `rules:` of a job, an include or the workflow, in one world. It is never `never` if there are no
 * `rules:`.
 *
 * @param place - whose rules they are: the entry that is noted as unread if one is not understood.
 */
export function outcomeOf(rules: unknown, place: string, about: Circumstances): RulesOutcome {
  if (rules === undefined || rules === null) return { isNever: false, variables: {} };
  for (const rule of flattenedRules(rules)) {
    if (!isMap(rule)) {
      about.unread.note(place, `the rule ${JSON.stringify(rule)} is not a mapping; passed over`);
    } else if (ruleHolds(rule, place, about)) {
      return { isNever: rule.when === 'never', variables: readPipelineVariables(rule.variables) };
    }
  }
  return NEVER;
}

/** `!reference` puts lists of rules into lists. */
export const flattenedRules = (rules: unknown): readonly unknown[] =>
  Array.isArray(rules) ? rules.flat(Number.POSITIVE_INFINITY) : [rules];

export function ruleHolds(rule: YamlMap, place: string, about: Circumstances): boolean {
  about.budget.spend(1, place);
  return (
    ifHolds(rule.if, place, about) && changesHold(rule.changes, about) && existsHolds(rule.exists, about)
  );
}

/** An expression as `rules:if` and `only:variables` have it; absent, it holds. */
export function ifHolds(clause: unknown, place: string, about: Circumstances): boolean {
  if (clause === undefined || clause === null) return true;
  const text = String(clause);
  const expression = about.expressions(text);
  if (expression !== undefined) return conditionHolds(expression, about.lookUp, about.world);
  about.unread.note(place, `the condition "${text}" is not understood; taken as false`);
  return false;
}

/** Sources that push commits; in other pipelines GitLab takes every path as changed. */
const WITH_CHANGES = new Set(['push', 'merge_request_event', 'external_pull_request_event']);

/** Which files changed is not known here, so the world decides; where GitLab does not look, it holds. */
export function changesHold(changes: unknown, { run, world }: Circumstances): boolean {
  if (changes === undefined || changes === null) return true;
  const { source, isTag = false } = run;
  const isCompared = isMap(changes) && changes.compare_to !== undefined;
  if (!isCompared && (isTag || (source !== undefined && !WITH_CHANGES.has(source)))) return true;
  return world.holds(changesText(changes));
}

/** Lists of paths are long, and jobs share them. */
const CHANGES_TEXTS = new WeakMap<object, string>();

function changesText(changes: unknown): string {
  const key = typeof changes === 'object' && changes !== null ? changes : { changes };
  const text = CHANGES_TEXTS.get(key) ?? `changes in ${pathsOf(changes).join(', ')}`;
  CHANGES_TEXTS.set(key, text);
  return text;
}

function existsHolds(exists: unknown, { world, files, run, lookUp }: Circumstances): boolean {
  if (exists === undefined || exists === null) return true;
  const paths = pathsOf(exists).map((path) => expandKnown(path, knownValuesIn(path, lookUp)));
  const condition = `exists ${paths.join(', ')}`;
  // Another project's files are not here.
  const elsewhere = isMap(exists) && exists.project !== undefined && exists.project !== run.projectPath;
  if (elsewhere) return world.holds(`${condition} in ${exists.project}`);
  const found = paths.map((path) => (path.includes('$') ? undefined : files.has(path)));
  if (found.includes(true)) return true;
  return found.includes(undefined) && world.holds(condition);
}

function pathsOf(clause: unknown): readonly string[] {
  const paths = isMap(clause) ? clause.paths : clause;
  return (Array.isArray(paths) ? paths.flat(Number.POSITIVE_INFINITY) : [paths])
    .filter((path) => typeof path === 'string')
    .map(String);
}

/** The values of the names in a text, as far as they are known. */
export function knownValuesIn(text: string, lookUp: KnownLookup): Variables {
  const values: Record<string, string> = {};
  for (const [, name = ''] of text.matchAll(/[$%]\{?(\w+)/g)) {
    const found = lookUp(name);
    if (typeof found === 'object' && found.value !== null) values[name] = found.value;
  }
  return values;
}

/** A variable as it is written, `$NAME`; `isSet`: it has some value. */
interface Unknown {
  readonly unknown: string;
  readonly isSet: boolean;
}

type Value = string | boolean | null | Unknown;

/**
 * Evaluates an expression of `rules:if` by GitLab's truth values: an empty text is true on the left of `&&`,
 * and false as the whole. Undecidable parts are looked up in the world.
 */
function conditionHolds(condition: Expression, lookUp: KnownLookup, world: World): boolean {
  return isPresent(evaluate(condition));

  function evaluate(expression: Expression): Value {
    switch (expression.kind) {
      case 'variable':
        return variable(expression.name);
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

type Expression =
  | { readonly kind: 'variable'; readonly name: string }
  | { readonly kind: 'constant'; readonly value: string | boolean | null }
  | { readonly kind: 'pattern'; readonly pattern: string }
  | { readonly kind: 'not'; readonly of: Expression }
  | {
      readonly kind: 'operator';
      readonly operator: Operator;
      readonly left: Expression;
      readonly right: Expression;
    };

type Operator = '&&' | '||' | '==' | '!=' | '=~' | '!~';

/** GitLab's own bound of words and signs in one expression. */
const TOKENS_MAX = 100;

const TOKEN =
  /\s*(?:(?<sign>\(|\)|==|=~|!=|!~|&&|\|\||!)|\$(?<variable>\w+)|"(?<double>[^"]*)"|'(?<single>[^']*)'|(?<pattern>\/(?:\\.|[^/\\])+\/[ismU]*)|\b(?<word>null|true|false)\b)/y;

/** The higher binds the closer. */
const PRECEDENCE: Readonly<Record<Operator, number>> = {
  '||': 1,
  '&&': 2,
  '==': 3,
  '!=': 3,
  '=~': 3,
  '!~': 3,
};

type Token = { readonly sign: string } | { readonly operand: Expression };

export type ReadExpression = (text: string) => Expression | undefined;

/** Reads each expression once: a rule that many jobs share is judged a thousand times. */
export function expressionReader(): ReadExpression {
  const read = new Map<string, Expression | undefined>();
  return (text) => {
    if (!read.has(text)) read.set(text, parseExpression(text));
    return read.get(text);
  };
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
      const operator = operatorAt(at);
      if (left === undefined || operator === undefined || PRECEDENCE[operator] < precedence) return left;
      at += 1;
      const right = binary(PRECEDENCE[operator] + 1);
      if (right === undefined) return undefined;
      left = { kind: 'operator', operator, left, right };
    }
  }

  function unary(): Expression | undefined {
    const token = tokens?.[at];
    at += 1;
    if (token === undefined) return undefined;
    if ('operand' in token) return token.operand;
    if (token.sign === '!') {
      const of = unary();
      return of && { kind: 'not', of };
    }
    if (token.sign !== '(') return undefined;
    const inner = binary(1);
    const close = tokens?.[at];
    at += 1;
    return close !== undefined && 'sign' in close && close.sign === ')' ? inner : undefined;
  }

  function operatorAt(index: number): Operator | undefined {
    const token = tokens?.[index];
    return token !== undefined && 'sign' in token && token.sign in PRECEDENCE
      ? (token.sign as Operator)
      : undefined;
  }
}

function tokensOf(text: string): readonly Token[] | undefined {
  const tokens: Token[] = [];
  const trimmed = text.trim();
  TOKEN.lastIndex = 0;
  while (TOKEN.lastIndex < trimmed.length) {
    const groups = TOKEN.exec(trimmed)?.groups;
    if (groups === undefined || tokens.length >= TOKENS_MAX) return undefined;
    tokens.push(tokenOf(groups));
  }
  return tokens;
}

function tokenOf(groups: Record<string, string | undefined>): Token {
  const { sign, variable, double, single, pattern, word } = groups;
  if (sign !== undefined) return { sign };
  if (variable !== undefined) return { operand: { kind: 'variable', name: variable } };
  if (pattern !== undefined) return { operand: { kind: 'pattern', pattern } };
  const text = double ?? single;
  const value = text ?? (word === 'null' ? null : word === 'true');
  return { operand: { kind: 'constant', value } };
}

/** One way it may be, as far as it was asked about. Answers do not change while one way is looked at. */
export interface World {
  readonly answers: ReadonlyMap<string, boolean>;
  /** Answers an undecidable condition. Its text is its identity. */
  holds(condition: string): boolean;
  /** A variable's value in this world, if an assumed condition sets it. */
  valueOf(variable: string): string | undefined;
  /** Says what follows from a condition that holds. */
  assume(variable: string, value: string): void;
}

export interface WorldOutcome<T> {
  readonly value: T;
  /** Assumed conditions on the way to it. */
  readonly assumed: ReadonlyMap<string, boolean>;
}

export interface Exploration<T> {
  /** At least one; the first is where every condition holds that was asked about. */
  readonly outcomes: readonly WorldOutcome<T>[];
  readonly isCut: boolean;
}

/**
 * Looks at each way that the unknown conditions leave open. Only what `visit` asks about branches, so that ten
 * conditions behind a rule that never matches cost nothing.
 *
 * @param visit - asks the same questions whenever it gets the same answers.
 * @param around - a world in which all of this happens: what it has settled is settled here.
 */
export function explore<T>(visit: (world: World) => T, max: number, around?: World): Exploration<T> {
  const outcomes: WorldOutcome<T>[] = [];
  let script: readonly boolean[] | undefined = [];
  while (script !== undefined && outcomes.length < max) {
    const world = worldOf(script, around);
    const value = visit(world);
    outcomes.push({ value, assumed: world.answers });
    script = nextScript([...world.answers.values()]);
  }
  return { outcomes, isCut: script !== undefined };
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

/** The next branch, depth first: the last `true` becomes `false`. */
function nextScript(answers: readonly boolean[]): readonly boolean[] | undefined {
  const last = answers.lastIndexOf(true);
  return last === -1 ? undefined : [...answers.slice(0, last), false];
}
