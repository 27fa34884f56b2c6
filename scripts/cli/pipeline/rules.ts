import { compileRegex } from '../../../policies/match/regex.ts';
import { remembering } from '../../../policies/match/remember.ts';
import type { ReadSource } from './inputs.ts';
import { type KnownLookup, type KnownRun, knownValuesIn } from './known-run.ts';
import type { UnreadNotes, WorkBudget } from './pipeline-error.ts';
import type { RepositoryFiles } from './repository-files.ts';
import { expandKnown, readPipelineVariables, type Variables } from './variables.ts';
import { isMap, type YamlMap } from './yaml-map.ts';

export interface Circumstances {
  readonly folder: string;
  readonly file: string;
  readonly run: KnownRun;
  readonly lookUp: KnownLookup;
  readonly world: World;
  readonly files: RepositoryFiles;
  readonly readSource: ReadSource;
  readonly expressions: ReadExpression;
  readonly problems: string[];
  readonly unread: UnreadNotes;
  readonly budget: WorkBudget;
}

export interface RulesOutcome {
  /** The first rule that matches says `never`, or none matches. */
  readonly isNever: boolean;
  readonly variables: Variables;
}

const NEVER: RulesOutcome = { isNever: true, variables: {} };

/** @param place - whose rules they are: the entry that is noted as unread if one is not understood. */
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
const flattenedRules = (rules: unknown): readonly unknown[] =>
  Array.isArray(rules) ? rules.flat(Number.POSITIVE_INFINITY) : [rules];

function ruleHolds(rule: YamlMap, place: string, about: Circumstances): boolean {
  about.budget.spend(1, place);
  return (
    ifHolds(rule.if, place, about) && changesHold(rule.changes, about) && existsHolds(rule.exists, about)
  );
}

function ifHolds(clause: unknown, place: string, about: Circumstances): boolean {
  if (clause === undefined || clause === null) return true;
  const text = String(clause);
  const expression = about.expressions(text);
  if (expression !== undefined) return isPresent(expression(about), about);
  about.unread.note(place, `the condition "${text}" is not understood; taken as false`);
  return false;
}

const WITH_CHANGES = new Set(['push', 'merge_request_event', 'external_pull_request_event']);

/** Which files changed is not known here, so the world decides; where GitLab does not look, it holds. */
function changesHold(changes: unknown, { run, world }: Circumstances): boolean {
  if (changes === undefined || changes === null) return true;
  const { source, isTag = false } = run;
  const isCompared = isMap(changes) && changes.compare_to !== undefined;
  if (!isCompared && (isTag || (source !== undefined && !WITH_CHANGES.has(source)))) return true;
  return world.holds(`changes in ${pathsOf(changes).join(', ')}`);
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

/** A variable as it is written, `$NAME`; `isSet`: it has some value. */
interface Unknown {
  readonly unknown: string;
  readonly isSet: boolean;
}

type Value = string | boolean | null | Unknown;
type Asking = Pick<Circumstances, 'lookUp' | 'world'>;
/** Looks undecidable parts up in the world. */
type Expression = (asking: Asking) => Value;

const isUnknown = (value: Value): value is Unknown => typeof value === 'object' && value !== null;

/** GitLab's truth values: an empty text is true on the left of `&&`, and false as the whole. */
function isPresent(value: Value, { world }: Asking): boolean {
  if (isUnknown(value)) return value.isSet || world.holds(value.unknown);
  return typeof value === 'string' ? value.trim() !== '' : value === true;
}

const isTruthy = (value: Value, asking: Asking): boolean =>
  isUnknown(value) ? isPresent(value, asking) : value !== null && value !== false;

function equal(left: Value, right: Value, { world }: Asking): boolean {
  if (!isUnknown(left) && !isUnknown(right)) return left === right;
  const [{ unknown, isSet }, other] = isUnknown(left) ? [left, right] : [right as Unknown, left];
  if (other === null) return !isSet && !world.holds(unknown);
  if (isUnknown(other)) return world.holds(`${unknown} == ${other.unknown}`);
  const holds = world.holds(`${unknown} == "${other}"`);
  if (holds && typeof other === 'string') world.assume(unknown.slice(1), other);
  return holds;
}

function matches(left: Value, right: Value, { world }: Asking): boolean {
  const name = isUnknown(left) ? left.unknown : JSON.stringify(left);
  if (isUnknown(right)) return world.holds(`${name} =~ ${right.unknown}`);
  const pattern = typeof right === 'string' ? readPattern(right) : undefined;
  if (pattern === undefined) return false;
  const found = isUnknown(left) ? undefined : pattern(left === null ? '' : String(left));
  return found ?? world.holds(`${name} =~ ${right}`);
}

/**
 * Reads `/^main$/i`; undefined for a text that is no pattern. A pattern that is too large for us, or not RE2's syntax, says
 * undefined of every text: GitLab might see it otherwise.
 */
const readPattern = remembering((text): ((text: string) => boolean | undefined) | undefined => {
  const [, pattern, flags] = /^\/(.+)\/([ismU]*)$/s.exec(text) ?? [];
  if (pattern === undefined) return undefined;
  const plain = pattern.replaceAll('\\/', '/');
  const compiled = compileRegex(flags === '' ? plain : `(?${flags})${plain}`);
  return (value) => (compiled.ok ? compiled.regex.matches(value) : undefined);
});

type Operator = readonly [
  precedence: number,
  judge: (left: Value, right: Expression, asking: Asking) => Value,
];

const comparing = (
  judge: (left: Value, right: Value, asking: Asking) => boolean,
  isNegated: boolean,
): Operator => [3, (left, right, asking) => judge(left, right(asking), asking) !== isNegated];

/** The higher the precedence, the closer it binds. */
const OPERATORS: Readonly<Record<string, Operator>> = {
  '||': [1, (left, right, asking) => (isTruthy(left, asking) ? left : right(asking))],
  '&&': [2, (left, right, asking) => (isTruthy(left, asking) ? right(asking) : left)],
  '==': comparing(equal, false),
  '!=': comparing(equal, true),
  '=~': comparing(matches, false),
  '!~': comparing(matches, true),
};

/** GitLab's own bound of words and signs in one expression. */
const TOKENS_MAX = 100;

const TOKEN =
  /\s*(?:(?<sign>\(|\)|==|=~|!=|!~|&&|\|\||!)|\$(?<variable>\w+)|"(?<double>[^"]*)"|'(?<single>[^']*)'|(?<pattern>\/(?:\\.|[^/\\])+\/[ismU]*)|\b(?<word>null|true|false)\b)/y;

type ReadExpression = (text: string) => Expression | undefined;

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
      const sign = tokens?.[at];
      const operator = typeof sign === 'string' ? OPERATORS[sign] : undefined;
      if (left === undefined || operator === undefined || operator[0] < precedence) return left;
      at += 1;
      const [own, judge] = operator;
      const [first, second] = [left, binary(own + 1)];
      left = second && ((asking) => judge(first(asking), second, asking));
    }
  }

  function unary(): Expression | undefined {
    const token = tokens?.[at];
    at += 1;
    if (typeof token !== 'string') return token;
    if (token === '!') {
      const of = unary();
      return of && ((asking) => !isPresent(of(asking), asking));
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

export interface Exploration<T> {
  /** At least one; the first is where every condition holds that was asked about. */
  readonly outcomes: readonly { readonly value: T; readonly assumed: ReadonlyMap<string, boolean> }[];
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
  const outcomes: Exploration<T>['outcomes'][number][] = [];
  let script: readonly boolean[] | undefined = [];
  while (script !== undefined && outcomes.length < max) {
    const world = worldOf(script, around);
    outcomes.push({ value: visit(world), assumed: world.answers });
    // The next branch, depth first: the last `true` becomes `false`.
    const answers: readonly boolean[] = [...world.answers.values()];
    const last = answers.lastIndexOf(true);
    script = last === -1 ? undefined : [...answers.slice(0, last), false];
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

/** Ways looked at one by one, so that rules which exclude each other are seen to. */
const WAYS_MAX = 32;

/**
 * Returns all results of `rules:` in the surrounding world, at least one, in the order of the rules. For long
 * lists each rule is judged alone, which may add a result and never misses one.
 *
 * @param lets - an extra condition; if it fails, the result is `never`.
 */
export function possibleOutcomes(
  rules: unknown,
  place: string,
  about: Circumstances,
  lets: (about: Circumstances) => boolean = () => true,
) {
  const within = (world: World): Circumstances => ({ ...about, world });
  const ways = explore(
    (world) => (lets(within(world)) ? outcomeOf(rules, place, within(world)) : NEVER),
    WAYS_MAX,
    about.world,
  );
  const conditions = conditionsOf(ways.outcomes);
  if (!ways.isCut) return { outcomes: distinct(ways.outcomes.map(({ value }) => value)), conditions };
  const asked = new Set(conditions);
  const outcomes: RulesOutcome[] = [];
  if (may(lets).includes(false)) outcomes.push(NEVER);
  let mayEnd = true;
  for (const rule of flattenedRules(rules)) {
    if (!mayEnd || !isMap(rule)) continue;
    const answers = may((within) => ruleHolds(rule, place, within));
    if (answers.includes(true))
      outcomes.push({ isNever: rule.when === 'never', variables: readPipelineVariables(rule.variables) });
    mayEnd = answers.includes(false);
  }
  if (mayEnd) outcomes.push(NEVER);
  return { outcomes: distinct(outcomes), conditions: [...asked] };

  function may(holds: (within: Circumstances) => boolean): readonly boolean[] {
    const { outcomes: found, isCut } = explore((world) => holds(within(world)), WAYS_MAX, about.world);
    for (const condition of conditionsOf(found)) asked.add(condition);
    return isCut ? [true, false] : found.map(({ value }) => value);
  }
}

const conditionsOf = (outcomes: readonly { readonly assumed: ReadonlyMap<string, boolean> }[]) => [
  ...new Set(outcomes.flatMap(({ assumed }) => [...assumed.keys()])),
];

function distinct(outcomes: readonly RulesOutcome[]): readonly RulesOutcome[] {
  const alike = Map.groupBy(outcomes, ({ isNever, variables }) => isNever || JSON.stringify(variables));
  return [...alike.values()].flatMap(([first]) => first ?? []);
}

/** GitLab's default for jobs without `rules`, `only` and `except`: not in merge request pipelines. */
const DEFAULT_ONLY = ['branches', 'tags'];

/**
 * All parts of `only` must match, and no part of `except`.
 *
 * @param hasWorkflowRules - then a job without `only` runs in every pipeline.
 * @see https://docs.gitlab.com/ci/yaml/deprecated_keywords/#only--except
 */
export function onlyExceptLets(
  { only, except, rules }: YamlMap,
  hasWorkflowRules: boolean,
  place: string,
  about: Circumstances,
): boolean {
  const hasRules = rules !== undefined && rules !== null;
  const wanted = only ?? (hasRules || hasWorkflowRules ? undefined : DEFAULT_ONLY);
  return (
    (wanted === undefined || parts(wanted).every((part) => partHolds(part, place, about))) &&
    (except === undefined || except === null || !parts(except).some((part) => partHolds(part, place, about)))
  );
}

type Part = readonly [key: string, value: unknown];

const parts = (policy: unknown): readonly Part[] =>
  isMap(policy) ? Object.entries(policy) : [['refs', policy]];

function partHolds([key, value]: Part, place: string, about: Circumstances): boolean {
  const entries = [value].flat(Number.POSITIVE_INFINITY) as readonly unknown[];
  switch (key) {
    case 'refs':
      return entries.some((entry) => refMatches(String(entry), about));
    case 'variables':
      return entries.some((entry) => ifHolds(entry, place, about));
    case 'changes':
      return changesHold(value, about);
    default:
      return about.world.holds(`${key}: ${entries.join(', ')}`);
  }
}

/** Names of sources as `only` writes them, where it is not the source with an `s`. */
const SOURCES: ReadonlyMap<string, string> = new Map([
  ['merge_requests', 'merge_request_event'],
  ['external_pull_requests', 'external_pull_request_event'],
  ['pushes', 'push'],
  ...['schedule', 'trigger', 'pipeline'].map((source) => [`${source}s`, source] as const),
  ...['external', 'chat', 'web', 'api'].map((source) => [source, source] as const),
]);

function refMatches(entry: string, { run, world }: Circumstances): boolean {
  // A pattern may hold an `@`, a name of a project may not hold a `/` at its end.
  const at = entry.startsWith('/') ? entry.indexOf('@', entry.lastIndexOf('/')) : entry.indexOf('@');
  const [ref, project] = at === -1 ? [entry, undefined] : [entry.slice(0, at), entry.slice(at + 1)];
  const ask = (): boolean => world.holds(`refs: ${entry}`);
  if (project !== undefined && project !== run.projectPath) return run.projectPath === undefined && ask();
  const source = SOURCES.get(ref);
  if (source !== undefined) return run.source === undefined ? ask() : run.source === source;
  const { isTag = false } = run;
  const isMergeRequest = run.source === 'merge_request_event';
  if (ref === 'tags') return isMergeRequest ? false : run.ref === undefined ? ask() : isTag;
  if (ref === 'branches') {
    if (isMergeRequest) return false;
    // Most jobs have this default; otherwise all would be uncertain.
    return run.ref === undefined || !isTag;
  }
  if (run.ref === undefined) return ask();
  const pattern = readPattern(ref);
  return pattern === undefined ? ref === run.ref : (pattern(run.ref) ?? ask());
}
