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
import { PipelineError, type WorkBudget } from './pipeline-error.ts';
import { NO_PIPELINE } from './refusals.ts';
import { isMap, Reference, type YamlMap } from './yaml-map.ts';

export interface YamlSource {
  readonly map: YamlMap;
  /** The line each key of the top level stands on, from 1; the last one of a key that is written twice. */
  readonly lines: ReadonlyMap<string, number>;
}

export interface ReadingNotes {
  readonly problems: string[];
  readonly budget: WorkBudget;
}

const EMPTY: YamlSource = { map: {}, lines: new Map() };

export function parseYamlSource(
  text: string,
  file: string,
  notes: ReadingNotes,
  linesBefore = 0,
): YamlSource {
  const { budget } = notes;
  const lineCounter = new LineCounter();
  budget.spend(text.length / CHARACTERS_PER_VALUE, file);
  const document = parsed(text, file, lineCounter);
  if (document === undefined) return EMPTY;
  const [error] = document.errors;
  if (error !== undefined) throw unparsable(error, text, file, linesBefore);
  const value = valuesOf(document, { file, lineCounter, budget, linesBefore });
  if (isMap(value)) return { map: value, lines: topLines(document, lineCounter, linesBefore) };
  if (value !== null) throw new PipelineError('refused', `${file}: is not a mapping; ${NO_PIPELINE}`);
  return EMPTY;
}

/**
 * GitLab's parser, libyaml, takes flow collections and quoted texts with lines further left, a comment right after a bracket and
 * anchors with a colon, which this library does not. Only GitLab can say then.
 */
function unparsable(error: YAMLParseError, text: string, file: string, linesBefore: number): PipelineError {
  const what = `${file}: ${shifted(error.message, linesBefore)}`;
  const [, closer] = /(?:indented and end with a |Missing closing )(.)/.exec(error.message) ?? [];
  const isClosed = closer !== undefined && text.slice(error.pos[0]).includes(closer);
  return isClosed || error.message.startsWith('Comments must') || /^[-\s]*[&*][\w-]+:/m.test(text)
    ? new PipelineError('not_told', `${what}; GitLab's parser may read it`)
    : new PipelineError('refused', `${what}; ${NO_PIPELINE}`);
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

const shifted = (message: string, linesBefore: number): string =>
  (message.split('\n')[0] ?? '')
    .replace(/:$/, '')
    .replace(/at line (\d+)/, (_, line) => `at line ${Number(line) + linesBefore}`);

function topLines({ contents }: Document, lineCounter: LineCounter, linesBefore: number) {
  const lines = new Map<string, number>();
  if (!isMapNode(contents)) return lines;
  for (const { key } of contents.items) {
    if (isScalar(key) && key.range)
      lines.set(String(key.value), linesBefore + lineCounter.linePos(key.range[0]).line);
  }
  return lines;
}

/** GitLab's own bound of mappings and lists inside each other. */
const DEPTH_MAX = 150;

interface YamlReading {
  readonly file: string;
  readonly lineCounter: LineCounter;
  readonly budget: WorkBudget;
  readonly linesBefore: number;
}

/** A value and how many values it is made of, each alias counted as what it stands for. */
interface Read {
  readonly value: unknown;
  readonly size: number;
}

/**
 * The values of a document as GitLab's reader makes them: the last of a key that is written twice wins, and `<<` wins over
 * the keys above it. Aliases share one value, so a small file cannot grow while it is read.
 *
 * @throws {PipelineError} for documents that are too deep or stand for too many values.
 */
function valuesOf({ contents }: Document, options: YamlReading): unknown {
  const anchors = new Map<string, Read>();
  const { file, budget } = options;
  if (contents === null) return null;
  const { value, size } = read(contents as Node, 0);
  budget.spend(size, file);
  return value;

  function read(node: Node | null, depth: number): Read {
    if (node === null) return { value: null, size: 1 };
    if (depth > DEPTH_MAX) throw new PipelineError('too_large', tooDeep(placeOf(node)));
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
      const size = sizeOf(items);
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
      const name = keyText(read(keyNode, depth + 1).value);
      // Assigned, it would not become a key but the object's prototype.
      if (name !== '__proto__') map[name] = found.value;
    }
    return { value: map, size };
  }

  function placeOf(node: Node): string {
    const start = node.range?.[0];
    const line = start === undefined ? 1 : options.lineCounter.linePos(start).line;
    return `${file}:${options.linesBefore + line}`;
  }
}

const sizeOf = (items: readonly Read[]): number => items.reduce((sum, { size }) => sum + size, 1);

const isMergeable = (value: unknown): value is YamlMap | readonly YamlMap[] =>
  isMap(value) || (Array.isArray(value) && value.every(isMap));

const isMergeKey = (node: Node | null): boolean =>
  isScalar(node) && node.value === '<<' && (node.type === undefined || node.type === Scalar.PLAIN);

/** Unquoted, Ruby makes a Date or a Time of it, and GitLab's reader loads neither. */
const DATE =
  /^(?:\d{4}-(?:1[012]|0?\d)-(?:[12]\d|3[01]|0?\d)|-?\d{4}-\d{1,2}-\d{1,2}(?:[Tt]|\s+)\d{1,2}:\d\d:\d\d(?:\.\d*)?(?:\s*(?:Z|[-+]\d{1,2}:?(?:\d\d)?))?)$/;

function scalarOf(node: Scalar, placeOf: (node: Node) => string): unknown {
  const isPlain = node.type === undefined || node.type === Scalar.PLAIN;
  const isText = !isPlain || node.tag === 'tag:yaml.org,2002:str';
  if (isText) return String(node.value ?? '');
  const source = node.source ?? String(node.value ?? '');
  if (!DATE.test(source)) return plainScalar(source);
  throw new PipelineError('refused', `${placeOf(node)}: the date ${source} has no quotes; ${NO_PIPELINE}`);
}

const keyText = (value: unknown): string => (value === null ? '' : String(value));

const tooDeep = (place: string): string =>
  `${place}: more than ${DEPTH_MAX} mappings and lists inside each other; GitLab reads no more`;

const TRUE = /^(?:true|yes|on)$/i;
const FALSE = /^(?:false|no|off)$/i;
const NULL = /^(?:|~|null)$/i;
const WHOLE = /^[-+]?(?:0|[1-9][0-9_,]*)$/;
const OCTAL = /^([-+]?)0([0-7_,]+)$/;
const HEXADECIMAL = /^([-+]?)0x([0-9a-f_,]+)$/i;
const BINARY = /^([-+]?)0b([01_,]+)$/i;
const SEXAGESIMAL = /^([-+]?)([0-9]+(?::[0-5]?[0-9]){1,2})$/;
const FRACTION = /^[-+]?(?:[0-9][0-9_,]*)?\.[0-9]*(?:e[-+][0-9]+)?$/i;

/**
 * Parses an unquoted word as GitLab's YAML reader (Ruby's Psych, YAML 1.1): `yes` is true, `010` is 8,
 * `1:30` is 90, `1e3` is a text. A fraction becomes Ruby's text, because `1.0` is "1.0" there and never 1.
 */
function plainScalar(source: string): string | number | boolean | null {
  if (NULL.test(source)) return null;
  if (TRUE.test(source)) return true;
  if (FALSE.test(source)) return false;
  const number = wholeNumber(source);
  if (number !== undefined) return Number.isSafeInteger(number) ? number : source.replaceAll(/[_,]/g, '');
  if (source !== '.' && FRACTION.test(source)) return fractionText(source);
  return source;
}

function wholeNumber(source: string): number | undefined {
  if (WHOLE.test(source)) return Number(source.replaceAll(/[_,]/g, ''));
  for (const [pattern, base] of [
    [OCTAL, 8],
    [HEXADECIMAL, 16],
    [BINARY, 2],
  ] as const) {
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
