import { compileRegex } from '../../../policies/match/regex.ts';
import type { KnownLookup } from './known-run.ts';
import { PipelineError } from './pipeline-error.ts';
import { knownValuesIn } from './rules.ts';
import { expandKnown } from './variables.ts';
import { isMap, type YamlMap } from './yaml-map.ts';

export type InputValues = ReadonlyMap<string, unknown>;

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
 * the file does not declare. `not_told` for what is not read: inputs of other files, and rules of inputs.
 */
export function inputValues(header: YamlMap | undefined, given: InputArguments, file: string): InputValues {
  const spec = isMap(header?.spec) ? header.spec : {};
  if (spec.include !== undefined && spec.include !== null)
    throw notTold(file, 'spec:include takes inputs from other files, which are not read');
  const declared = isMap(spec.inputs) ? spec.inputs : {};
  const names = Object.keys(declared);
  const stray = Object.keys(given.values).find((name) => !Object.hasOwn(declared, name));
  if (stray !== undefined)
    throw refused(
      file,
      `is given the input "${stray}", which its spec does not declare; expected ${names.join(', ') || 'none'}`,
    );
  return new Map(names.map((name) => [name, inputValue(name, declared[name], given, file)]));
}

function inputValue(
  name: string,
  written: unknown,
  { values, areTyped }: InputArguments,
  file: string,
): unknown {
  const spec = isMap(written) ? written : {};
  if (spec.rules !== undefined && spec.rules !== null)
    throw notTold(file, `input "${name}" has rules, which are not read`);
  const type = typeof spec.type === 'string' ? spec.type : 'string';
  const fits = Object.hasOwn(TYPES, type) ? TYPES[type] : undefined;
  if (fits === undefined)
    throw refused(file, `input "${name}" is of type "${type}"; expected ${Object.keys(TYPES).join(', ')}`);
  const said = Object.hasOwn(values, name) ? (values[name] ?? undefined) : undefined;
  const value = said === undefined ? spec.default : areTyped ? typed(String(said), type) : said;
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

const notTold = (file: string, what: string): PipelineError =>
  new PipelineError('not_told', `${file}: ${what}`);

const FUNCTIONS_MAX = 3;
const BLOCKS_MAX = 10_000;
const CHARACTERS_MAX = 2_097_152;

const BLOCK = /\$\[\[[^\S\n]*(\S[^\n]{0,1000}?)[^\S\n]*\]\]/g;

/**
 * Puts inputs in the place of `$[[ inputs.name | function ]]`, in the text before it is read as YAML, as GitLab does: what
 * is not a text is put in as JSON. Blocks of a matrix stay.
 *
 * @throws {PipelineError} `refused` for a name that is no input, and a function's value that is no text; `not_told` for
 * what only GitLab has, and other functions; `too_large` for a text that grows past GitLab's size of a file.
 * @see https://docs.gitlab.com/ci/inputs/#specify-functions-to-manipulate-input-values
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
      throw notTold(file, `${block} is what only GitLab knows when it reads the file`);
    const name = /^inputs\.([\w-]+)$/.exec(access)?.[1];
    if (name === undefined || !inputs.has(name))
      throw refused(
        file,
        `${block} is none of its inputs; expected ${[...inputs.keys()].join(', ') || 'none'}`,
      );
    if (functions.length > FUNCTIONS_MAX)
      throw refused(file, `${block} has more than ${FUNCTIONS_MAX} functions`);
    return functions.reduce<unknown>((value, call) => applied(call, value, block), inputs.get(name));
  }

  function applied(call: string, value: unknown, block: string): string {
    const [, from, length] = /^truncate\(\s*(\d+)\s*,\s*(\d+)\s*\)?$/.exec(call) ?? [];
    if (call !== 'expand_vars' && from === undefined)
      throw notTold(file, `${block}: the function ${call} is not read`);
    if (typeof value !== 'string')
      throw refused(file, `${block}: ${call} takes a text, not ${JSON.stringify(value)}`);
    if (from !== undefined) return [...value].slice(Number(from), Number(from) + Number(length)).join('');
    // Once: references in the values stay.
    const known = knownValuesIn(value, lookUp);
    return expandKnown(value, known, new Set(Object.keys(known)));
  }
}
