import {
  type Document,
  isAlias,
  isMap as isMapNode,
  isScalar,
  isSeq,
  LineCounter,
  type Node,
  parseAllDocuments,
  Scalar,
  type YAMLMap,
  type YAMLParseError,
  type YAMLSeq,
} from 'yaml';
import { PipelineError, refused, type WorkBudget } from './pipeline-error.ts';
import { isMap, Reference, type YamlMap } from './yaml-map.ts';

export interface YamlSource {
  readonly map: YamlMap;
  /** The line each key of the top level stands on, from 1; the last one of a key that is written twice. */
  readonly lines: ReadonlyMap<string, number>;
}

export const EMPTY: YamlSource = { map: {}, lines: new Map() };

export function parseYamlSource(text: string, file: string, budget: WorkBudget, linesBefore = 0): YamlSource {
  const lineCounter = new LineCounter();
  budget.spend(text.length / CHARACTERS_PER_VALUE, file);
  const document = parsed(text, file, lineCounter);
  const [error] = document?.errors ?? [];
  if (error !== undefined) throw unparsable(error, text, file, linesBefore);
  const contents = document?.contents as Node | null | undefined;
  if (!contents) return EMPTY;
  const lineOf = (node: Node): number => linesBefore + lineCounter.linePos(node.range?.[0] ?? 0).line;
  const value = valuesOf(contents, file, (node) => `${file}:${lineOf(node)}`, budget);
  if (value === null) return EMPTY;
  if (!isMap(value)) throw refused(`${file}: is not a mapping`);
  const keys = isMapNode(contents) ? contents.items.map(({ key }) => key).filter((key) => isScalar(key)) : [];
  return { map: value, lines: new Map(keys.map((key) => [String(key.value), lineOf(key)])) };
}

/** GitLab's parser, libyaml, takes some flow collections, comments and anchors that this library does not: only GitLab can say. */
function unparsable(error: YAMLParseError, text: string, file: string, linesBefore: number): PipelineError {
  const message = (error.message.split('\n')[0] ?? '')
    .replace(/:$/, '')
    .replace(/at line (\d+)/, (_, line) => `at line ${Number(line) + linesBefore}`);
  const what = `${file}: ${message}`;
  const [, closer] = /(?:indented and end with a |Missing closing )(.)/.exec(error.message) ?? [];
  const isClosed = closer !== undefined && text.slice(error.pos[0]).includes(closer);
  return isClosed || error.message.startsWith('Comments must') || /^[-\s]*[&*][\w-]+:/m.test(text)
    ? new PipelineError('not_told', `${what}; GitLab's parser may read it`)
    : refused(what);
}

/** A text is not free, however few values it has. */
const CHARACTERS_PER_VALUE = 8;

function parsed(text: string, file: string, lineCounter: LineCounter): Document | undefined {
  try {
    const documents = parseAllDocuments(text, {
      lineCounter,
      // Words are read as GitLab's Ruby does, not as this library would.
      schema: 'failsafe',
      uniqueKeys: false,
      logLevel: 'silent',
      customTags: [{ tag: '!reference', collection: 'seq', resolve: (sequence: YAMLSeq) => sequence }],
    });
    return 'empty' in documents ? undefined : documents[0];
  } catch (error) {
    if (error instanceof RangeError)
      throw new PipelineError('too_large', `${file}: too many mappings and lists inside each other`);
    throw error;
  }
}

/** GitLab's own bound of mappings and lists inside each other. */
const DEPTH_MAX = 150;

/** A value and how many values it is made of, each alias counted as what it stands for. */
interface Read {
  readonly value: unknown;
  readonly size: number;
}

/** The last of a key written twice wins, and `<<` wins over keys above it, as in GitLab. Aliases share one value. */
function valuesOf(
  contents: Node,
  file: string,
  placeOf: (node: Node) => string,
  budget: WorkBudget,
): unknown {
  const anchors = new Map<string, Read>();
  const { value, size } = read(contents, 0);
  budget.spend(size, file);
  return value;

  function read(node: Node | null, depth: number): Read {
    if (node === null) return { value: null, size: 1 };
    if (depth > DEPTH_MAX)
      throw new PipelineError(
        'too_large',
        `${placeOf(node)}: more than ${DEPTH_MAX} mappings and lists inside each other; GitLab reads no more`,
      );
    if (isAlias(node)) {
      const anchored = anchors.get(node.source);
      if (anchored !== undefined) return anchored;
      throw new PipelineError('refused', `${placeOf(node)}: *${node.source} has no &${node.source} above it`);
    }
    const found = readContent(node, depth);
    // Before the sizes add up past what a number holds.
    if (found.size > Number.MAX_SAFE_INTEGER / 2) budget.spend(Number.POSITIVE_INFINITY, placeOf(node));
    if ('anchor' in node && typeof node.anchor === 'string') anchors.set(node.anchor, found);
    return found;
  }

  function readContent(node: Node, depth: number): Read {
    if (isSeq(node)) {
      const items = node.items.map((item) => read(item as Node | null, depth + 1));
      const values = items.map(({ value }) => value);
      const size = items.reduce((sum, each) => sum + each.size, 1);
      return node.tag === '!reference'
        ? { value: new Reference(values.flat().map(String)), size }
        : { value: values, size };
    }
    if (isMapNode(node)) return readMap(node, depth);
    return { value: isScalar(node) ? scalarOf(node, placeOf) : null, size: 1 };
  }

  function readMap(node: YAMLMap, depth: number): Read {
    const map: Record<string, unknown> = {};
    let size = 1;
    for (const { key, value } of node.items) {
      const keyNode = key as Node | null;
      const found = read(value as Node | null, depth + 1);
      size += found.size;
      if (isMergeKey(keyNode) && isMergeable(found.value)) {
        // In a list of several, an earlier one wins over a later one.
        for (const base of [found.value].flat().reverse()) {
          budget.spend(Object.keys(base).length, file);
          Object.assign(map, base);
        }
        continue;
      }
      const name = String(read(keyNode, depth + 1).value ?? '');
      // Assigned, it would not become a key but the object's prototype.
      if (name !== '__proto__') map[name] = found.value;
    }
    return { value: map, size };
  }
}

const isMergeable = (value: unknown): value is YamlMap | readonly YamlMap[] =>
  isMap(value) || (Array.isArray(value) && value.every(isMap));

const isPlain = ({ type }: Scalar): boolean => type === undefined || type === Scalar.PLAIN;

const isMergeKey = (node: Node | null): boolean => isScalar(node) && node.value === '<<' && isPlain(node);

/** Unquoted, Ruby makes a Date or a Time of it, and GitLab's reader loads neither. */
const DATE =
  /^(?:\d{4}-(?:1[012]|0?\d)-(?:[12]\d|3[01]|0?\d)|-?\d{4}-\d{1,2}-\d{1,2}(?:[Tt]|\s+)\d{1,2}:\d\d:\d\d(?:\.\d*)?(?:\s*(?:Z|[-+]\d{1,2}:?(?:\d\d)?))?)$/;

function scalarOf(node: Scalar, placeOf: (node: Node) => string): unknown {
  const text = String(node.value ?? '');
  if (!isPlain(node) || node.tag === 'tag:yaml.org,2002:str') return text;
  const { source = text } = node;
  if (DATE.test(source)) throw refused(`${placeOf(node)}: the date ${source} has no quotes`);
  return plainScalar(source);
}

const WORDS: readonly (readonly [RegExp, boolean | null])[] = [
  [/^(?:true|yes|on)$/i, true],
  [/^(?:false|no|off)$/i, false],
  [/^(?:|~|null)$/i, null],
];
const WHOLE = /^[-+]?(?:0|[1-9][0-9_,]*)$/;
const BASES: readonly (readonly [RegExp, number])[] = [
  [/^([-+]?)0([0-7_,]+)$/, 8],
  [/^([-+]?)0x([0-9a-f_,]+)$/i, 16],
  [/^([-+]?)0b([01_,]+)$/i, 2],
];
const SEXAGESIMAL = /^([-+]?)([0-9]+(?::[0-5]?[0-9]){1,2})$/;
const FRACTION = /^[-+]?(?:[0-9][0-9_,]*)?\.[0-9]*(?:e[-+][0-9]+)?$/i;

/**
 * Parses an unquoted word as GitLab's YAML reader (Ruby's Psych, YAML 1.1): `yes` is true, `010` is 8,
 * `1:30` is 90, `1e3` is a text. A fraction becomes Ruby's text, because `1.0` is "1.0" there and never 1.
 */
function plainScalar(source: string): string | number | boolean | null {
  const word = WORDS.find(([pattern]) => pattern.test(source));
  if (word !== undefined) return word[1];
  const number = wholeNumber(source);
  if (number !== undefined) return Number.isSafeInteger(number) ? number : source.replaceAll(/[_,]/g, '');
  if (source !== '.' && FRACTION.test(source)) return fractionText(source);
  return source;
}

function wholeNumber(source: string): number | undefined {
  if (WHOLE.test(source)) return Number(source.replaceAll(/[_,]/g, ''));
  for (const [pattern, base] of BASES) {
    const [, sign = '', digits = ''] = pattern.exec(source) ?? [];
    const plain = digits.replaceAll(/[_,]/g, '');
    if (plain !== '') return Number.parseInt(sign + plain, base);
  }
  const [, sign, parts] = SEXAGESIMAL.exec(source) ?? [];
  if (parts === undefined) return undefined;
  const seconds = parts.split(':').reduce((sum, part) => sum * 60 + Number(part), 0);
  return sign === '-' ? -seconds : seconds;
}

/** Ruby writes a fraction with at least one digit behind the point. */
function fractionText(source: string): string {
  const value = Number(source.replaceAll(/[_,]/g, ''));
  if (!Number.isFinite(value)) return source;
  return Number.isInteger(value) ? `${value}.0` : String(value);
}
