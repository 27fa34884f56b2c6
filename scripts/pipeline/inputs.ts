import { compileRegex } from '../../policies/match/regex.ts';
import { PipelineError } from './pipeline-error.ts';
import { isMap, type YamlMap } from './yaml-map.ts';

/** Values for `$[[ inputs.name ]]`, of the types that the file declares. */
export type InputValues = ReadonlyMap<string, unknown>;

/** What an include hands over, or who starts the pipeline. */
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
 * the file does not declare.
 */
export function inputValues(header: YamlMap | undefined, given: InputArguments, file: string): InputValues {
  const spec = isMap(header?.spec) ? header.spec : {};
  const declared = isMap(spec.inputs) ? spec.inputs : {};
  const stray = Object.keys(given.values).find((name) => !Object.hasOwn(declared, name));
  if (stray !== undefined) {
    const names = Object.keys(declared);
    throw refused(
      file,
      `is given the input "${stray}", which its spec does not declare; expected ${names.length === 0 ? 'none' : names.join(', ')}`,
    );
  }
  return new Map(
    Object.entries(declared).map(([name, entry]) => [
      name,
      inputValue(name, isMap(entry) ? entry : {}, given, file),
    ]),
  );
}

function inputValue(
  name: string,
  spec: YamlMap,
  { values, areTyped }: InputArguments,
  file: string,
): unknown {
  const type = typeof spec.type === 'string' ? spec.type : 'string';
  const fits = Object.hasOwn(TYPES, type) ? TYPES[type] : undefined;
  if (fits === undefined)
    throw refused(file, `input "${name}" is of type "${type}"; expected ${Object.keys(TYPES).join(', ')}`);
  const said = Object.hasOwn(values, name) ? values[name] : undefined;
  const value =
    said === undefined || said === null ? spec.default : areTyped ? typed(String(said), type) : said;
  if (value === undefined)
    throw refused(
      file,
      `input "${name}" has no value and no default; ${areTyped ? `say --input ${name}=…` : 'the include must give it'}`,
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
