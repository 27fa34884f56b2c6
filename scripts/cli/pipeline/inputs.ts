import { compileRegex } from '../../../policies/match/regex.ts';
import { memoizeIn } from '../../../policies/match/remember.ts';
import { type KnownLookup, knownValuesIn } from './known-run.ts';
import { NO_PIPELINE, PipelineError, type WorkBudget } from './pipeline-error.ts';
import { expandKnown } from './variables.ts';
import { isMap, type YamlMap } from './yaml-map.ts';
import { EMPTY, parseYamlSource, type YamlSource } from './yaml-source.ts';

type InputValues = ReadonlyMap<string, unknown>;

export interface InputArguments {
  readonly values: YamlMap;
  /** They were typed, so that a number is still a text. */
  readonly areTyped: boolean;
}

/** Separates documents of a file; the first may be a header with inputs. */
const DIVIDER = /^---(?:[^\S\n][^\n]*)?(?:\n|$)/m;
const DOCUMENTS_MAX = 2;

export type ReadSource = ReturnType<typeof sourceReader>;

/** Reads each file once for the same inputs, however many worlds have it. */
export function sourceReader(lookUp: KnownLookup, budget: WorkBudget) {
  const sources = new Map<string, YamlSource>();
  return (text: string, file: string, given: InputArguments): YamlSource => {
    const key = JSON.stringify([file, given]);
    return memoizeIn(sources, key, Number.POSITIVE_INFINITY, () => read(text, file, given));
  };

  function read(text: string, file: string, given: InputArguments): YamlSource {
    const [first, second] = documentsOf(text);
    const header = first && parseYamlSource(first.text, file, budget, first.linesBefore);
    const isHeader = second !== undefined && isMap(header?.map.spec);
    const values = inputValues(isHeader ? header?.map : undefined, given, file);
    if (!isHeader) return header ?? EMPTY;
    return parseYamlSource(interpolate(second.text, values, lookUp, file), file, budget, second.linesBefore);
  }
}

function documentsOf(text: string): readonly { readonly text: string; readonly linesBefore: number }[] {
  const documents: ReturnType<typeof documentsOf>[number][] = [];
  let linesBefore = 0;
  for (let rest = text; rest !== '' && documents.length < DOCUMENTS_MAX; ) {
    const divider = DIVIDER.exec(rest);
    const end = divider?.index ?? rest.length;
    const part = rest.slice(0, end);
    if (/\S/.test(part.replaceAll(/#[^\n]*/g, ''))) documents.push({ text: part, linesBefore });
    const next = end + (divider?.[0].length ?? 0);
    linesBefore += rest.slice(0, next).split('\n').length - 1;
    rest = rest.slice(next);
  }
  return documents;
}

const TYPES: Readonly<Record<string, (value: unknown) => boolean>> = {
  string: (value) => typeof value === 'string',
  number: (value) => typeof value === 'number' || (typeof value === 'string' && /^-?\d*\.\d+$/.test(value)),
  boolean: (value) => typeof value === 'boolean',
  array: Array.isArray,
};

/** @throws {PipelineError} `refused` as by GitLab; `not_told` for inputs of other files, and rules of inputs */
function inputValues(header: YamlMap | undefined, given: InputArguments, file: string): InputValues {
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
  const wrong = (what: string): PipelineError => refused(file, `input "${name}" ${what}`);
  if (spec.rules !== undefined && spec.rules !== null)
    throw notTold(file, `input "${name}" has rules, which are not read`);
  const type = typeof spec.type === 'string' ? spec.type : 'string';
  const fits = Object.hasOwn(TYPES, type) ? TYPES[type] : undefined;
  if (fits === undefined) throw wrong(`is of type "${type}"; expected ${Object.keys(TYPES).join(', ')}`);
  const said = Object.hasOwn(values, name) ? (values[name] ?? undefined) : undefined;
  const value = said === undefined ? spec.default : areTyped ? typed(String(said), type) : said;
  const remedy = areTyped ? `say --input ${name}=…` : 'the include must give it';
  if (value === undefined) throw wrong(`has no value and no default; ${remedy}`);
  if (value === null) return null;
  const shown = `is ${JSON.stringify(value)}; expected`;
  if (!fits(value)) throw wrong(`${shown} a ${type}`);
  if (Array.isArray(spec.options) && !spec.options.includes(value))
    throw wrong(`${shown} one of ${spec.options.join(', ')}`);
  if (typeof spec.regex === 'string' && typeof value === 'string') {
    const compiled = compileRegex(spec.regex);
    if (compiled.ok && !compiled.regex.matches(value)) throw wrong(`${shown} what ${spec.regex} matches`);
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
  new PipelineError('refused', `${file}: ${what}; ${NO_PIPELINE} from it`);

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
 * @throws {PipelineError} `not_told` for what only GitLab has, and other functions than those that are read.
 * @see https://docs.gitlab.com/ci/inputs/#specify-functions-to-manipulate-input-values
 */
function interpolate(text: string, inputs: InputValues, lookUp: KnownLookup, file: string): string {
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
