import { compileRegex } from '../../../policies/match/regex.ts';
import { type OtherInputs, ruledInput } from './input-rules.ts';
import { PipelineError } from './pipeline-error.ts';
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
