import { compileRegex } from '../../../policies/match/regex.ts';
import type { KnownLookup } from './known-run.ts';
import { PipelineError } from './pipeline-error.ts';
import { conditionHolds, type Expression, knownValuesIn, parseExpression, type World } from './rules.ts';
import { expandKnown } from './variables.ts';
import { isMap, type YamlMap } from './yaml-map.ts';

/** Values for `$[[ inputs.name ]]`, of the types that the file declares. */
export type InputValues = ReadonlyMap<string, unknown>;

/** Inputs of an include, or of the pipeline's start. */
export interface InputArguments {
  readonly values: YamlMap;
  /** They were typed, so that a number is still a text. */
  readonly areTyped: boolean;
}

const TYPES: Readonly<Record<string, (value: unknown) => boolean>> = {
  string: (value) => typeof value === 'string',
  number: (value) => typeof value === 'number' || (typeof value === 'string' && /^-?\d*\.\d+$/.test(value)),
  boolean: (value) => typeof value === 'boolean',
  array: Array.isArray,
};

/**
 * The values of the inputs that a file's header declares: those of the arguments, else the defaults.
 *
 * @param header - the document with `spec:`, or undefined for a file without one.
 * @throws {PipelineError} `refused` where GitLab creates no pipeline: an input without a value, of another type, or that
 * the file does not declare. `not_told` where its rules, or inputs of other files, leave open what a value is.
 */
export function inputValues(header: YamlMap | undefined, given: InputArguments, file: string): InputValues {
  const spec = isMap(header?.spec) ? header.spec : {};
  if (spec.include !== undefined && spec.include !== null)
    throw new PipelineError(
      'not_told',
      `${file}: spec:include takes inputs from other files, which are not read`,
    );
  const declared = isMap(spec.inputs) ? spec.inputs : {};
  const stray = Object.keys(given.values).find((name) => !Object.hasOwn(declared, name));
  if (stray !== undefined) {
    const names = Object.keys(declared);
    throw refused(
      file,
      `is given the input "${stray}", which its spec does not declare; expected ${names.length === 0 ? 'none' : names.join(', ')}`,
    );
  }
  const settled = new Map<string, unknown>();
  for (const [name, entry] of Object.entries(declared)) {
    const written = isMap(entry) ? entry : {};
    settled.set(name, inputValue(name, writtenFor(name, written), given, file));
  }
  return settled;

  /** The declaration, with what its rules make of it. */
  function writtenFor(name: string, written: YamlMap): YamlMap {
    if (written.rules === undefined || written.rules === null) return written;
    const around: OtherInputs = {
      isDeclared: (other) => Object.hasOwn(declared, other),
      isSettled: (other) => settled.has(other) || saidOf(other, given) !== undefined,
      valueOf: (other) => {
        const type = isMap(declared[other]) ? typeOf(declared[other]) : 'string';
        return settled.has(other) ? settled.get(other) : saidAs(type, saidOf(other, given), given);
      },
    };
    const refuse = (what: string): never => {
      throw new PipelineError('not_told', `${file}: input "${name}" ${what}`);
    };
    const ruled = ruledInput(written, around, refuse);
    const hasValue = saidOf(name, given) !== undefined || ruled.default !== undefined;
    if (!hasValue && ruled.options !== undefined && hasDefaultSomewhere(written.rules))
      return refuse('has no value: the rule that holds gives options and no default');
    // A text whose rules all fail is empty in GitLab.
    const isEmpty = !hasValue && typeOf(written) === 'string' && hasDefaultSomewhere(written.rules);
    return { ...written, ...ruled, ...(isEmpty && { default: '' }) };
  }
}

const typeOf = (spec: YamlMap): string => (typeof spec.type === 'string' ? spec.type : 'string');

/** GitLab's condition for an input that need not be given. */
const hasDefaultSomewhere = (rules: unknown): boolean =>
  Array.isArray(rules) &&
  rules.some((rule) => isMap(rule) && (Object.hasOwn(rule, 'default') || rule.if === undefined));

/** The given value; `undefined`: none. */
const saidOf = (name: string, { values }: InputArguments): unknown =>
  Object.hasOwn(values, name) ? (values[name] ?? undefined) : undefined;

const saidAs = (type: string, said: unknown, { areTyped }: InputArguments): unknown =>
  areTyped ? typed(String(said), type) : said;

function inputValue(name: string, spec: YamlMap, given: InputArguments, file: string): unknown {
  const type = typeOf(spec);
  const fits = Object.hasOwn(TYPES, type) ? TYPES[type] : undefined;
  if (fits === undefined)
    throw refused(file, `input "${name}" is of type "${type}"; expected ${Object.keys(TYPES).join(', ')}`);
  const said = saidOf(name, given);
  const value = said === undefined ? spec.default : saidAs(type, said, given);
  if (value === undefined)
    throw refused(
      file,
      `input "${name}" has no value and no default; ${given.areTyped ? `say --input ${name}=…` : 'the include must give it'}`,
    );
  if (value === null) return null;
  if (!fits(value)) throw refused(file, `input "${name}" is ${JSON.stringify(value)}; expected a ${type}`);
  if (Array.isArray(spec.options) && !spec.options.includes(value))
    throw refused(
      file,
      `input "${name}" is ${JSON.stringify(value)}; expected one of ${spec.options.join(', ')}`,
    );
  if (typeof spec.regex === 'string' && typeof value === 'string') {
    const compiled = compileRegex(spec.regex);
    if (compiled.ok && !compiled.regex.matches(value))
      throw refused(file, `input "${name}" is "${value}"; expected what ${spec.regex} matches`);
  }
  return value;
}

/** A value from a command line; what cannot be read stays a text, and is refused as one. */
function typed(text: string, type: string): unknown {
  if (type === 'string') return text;
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

const refused = (file: string, what: string): PipelineError =>
  new PipelineError('refused', `${file}: ${what}; GitLab creates no pipeline from it`);

/** An input after its `rules:`. */
interface RuledInput {
  readonly options?: readonly unknown[];
  readonly default?: unknown;
}

/** The other inputs of the file, as far as they are settled when an input is worked out. */
interface OtherInputs {
  /** True if the file declares it. */
  isDeclared(name: string): boolean;
  /** True if it has a value: given, or declared above. */
  isSettled(name: string): boolean;
  valueOf(name: string): unknown;
}

/** Throws with the reason. */
type Refuse = (what: string) => never;

/**
 * Options and default of an input with `rules:`, by the first rule that holds; a rule without `if` always does. Where GitLab
 * would do something that versions differ in, it is refused.
 *
 * @see https://docs.gitlab.com/ci/inputs/
 */
function ruledInput(spec: YamlMap, around: OtherInputs, refuse: Refuse): RuledInput {
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

const NAMES = "expand_vars, truncate(from, length), posix_escape, split('separator')";

/**
 * Applies one function of a block: `expand_vars`, `truncate(from, length)`, `posix_escape` or `split('…')`,
 * in GitLab's exact syntax.
 *
 * @see https://docs.gitlab.com/ci/inputs/#specify-functions-to-manipulate-input-values
 */
function inputFunction(call: string, value: unknown, lookUp: KnownLookup, refuse: Refuse): unknown {
  const apply = functionOf(call, lookUp, refuse);
  return typeof value === 'string'
    ? apply(value)
    : refuse(`${call} takes a text, not ${JSON.stringify(value)}`);
}

function functionOf(call: string, lookUp: KnownLookup, refuse: Refuse): (text: string) => unknown {
  if (call === 'expand_vars') return (text) => expandedOnce(text, lookUp);
  if (call === 'posix_escape') return posixEscaped;
  const [, from, length] = /^truncate\(\s*(\d+)\s*,\s*(\d+)\s*\)?$/.exec(call) ?? [];
  if (from !== undefined && length !== undefined) {
    const start = Number(from);
    return (text) => [...text].slice(start, start + Number(length)).join('');
  }
  const separator = /^split\('([^']*)'\)$/.exec(call)?.[1];
  if (separator === '') return refuse(`${call} needs a separator`);
  if (separator !== undefined) return (text) => partsOf(text, separator);
  return refuse(
    call === 'posix_quote'
      ? '"posix_quote" is called posix_escape'
      : `"${call}" is no function; expected ${NAMES}`,
  );
}

/** References in the values stay. */
function expandedOnce(text: string, lookUp: KnownLookup): string {
  const known = knownValuesIn(text, lookUp);
  return expandKnown(text, known, new Set(Object.keys(known)));
}

const partsOf = (text: string, separator: string): readonly string[] =>
  text
    .split(separator)
    .map((part) => part.trim())
    .filter((part) => part !== '');

/** As Ruby's `Shellwords.shellescape`. */
const posixEscaped = (text: string): string =>
  text === '' ? "''" : text.replaceAll(/[^\w\-.,:+/@\n]/gu, '\\$&').replaceAll('\n', "'\n'");

/** GitLab's own bounds. */
const FUNCTIONS_MAX = 3;
const BLOCKS_MAX = 10_000;
/** Most characters of an expanded file. */
const CHARACTERS_MAX = 2_097_152;

const BLOCK = /\$\[\[[^\S\n]*(\S[^\n]{0,1000}?)[^\S\n]*\]\]/g;

/**
 * Puts inputs in the place of `$[[ inputs.name | function ]]`, in the text before it is read as YAML, as GitLab does: what
 * is not a text is put in as JSON. Blocks of a matrix stay.
 *
 * @throws {PipelineError} `refused` for a name that is no input, a function that is none, and a value it does not take; `not_told` for what only
 * GitLab has;
 * `too_large` for a text that grows past GitLab's size of a file.
 */
export function interpolate(text: string, inputs: InputValues, lookUp: KnownLookup, file: string): string {
  let blocks = 0;
  let characters = text.length;
  return text.replaceAll(BLOCK, (block: string, inside: string) => {
    blocks += 1;
    const value = blockValue(block, inside);
    const put = typeof value === 'string' ? value : JSON.stringify(value);
    characters += put.length - block.length;
    if (blocks > BLOCKS_MAX || characters > CHARACTERS_MAX)
      throw new PipelineError(
        'too_large',
        `${file}: its inputs make it longer than ${CHARACTERS_MAX} characters; GitLab reads no more`,
      );
    return put;
  });

  function blockValue(block: string, inside: string): unknown {
    const [access = '', ...functions] = inside.split('|').map((part) => part.trim());
    if (/^matrix\./.test(access)) return block;
    if (/^(?:component|job)\./.test(access))
      throw new PipelineError(
        'not_told',
        `${file}: ${block} is what only GitLab knows when it reads the file`,
      );
    const name = /^inputs\.([\w-]+)$/.exec(access)?.[1];
    if (name === undefined || !inputs.has(name))
      throw refused(
        file,
        `${block} is none of its inputs; expected ${[...inputs.keys()].join(', ') || 'none'}`,
      );
    if (functions.length > FUNCTIONS_MAX)
      throw refused(file, `${block} has more than ${FUNCTIONS_MAX} functions`);
    const refuse = (what: string): never => {
      throw refused(file, `${block}: ${what}`);
    };
    return functions.reduce<unknown>(
      (value, call) => inputFunction(call, value, lookUp, refuse),
      inputs.get(name),
    );
  }
}
