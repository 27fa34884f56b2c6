import {
  type Document,
  isAlias,
  isMap as isMapNode,
  isScalar,
  isSeq,
  type LineCounter,
  type Node,
  Scalar,
  type YAMLMap,
} from 'yaml';
import { PipelineError } from './pipeline-error.ts';
import { NO_PIPELINE } from './refusals.ts';
import type { WorkBudget } from './work-budget.ts';
import { isMap, Reference, type YamlMap } from './yaml-map.ts';
import { plainScalar } from './yaml-scalar.ts';

/** GitLab's own bound of mappings and lists inside each other. */
const DEPTH_MAX = 150;

interface YamlReading {
  readonly file: string;
  readonly lineCounter: LineCounter;
  readonly budget: WorkBudget;
  /** The first line of the document in its file, from 0. */
  readonly linesBefore: number;
  /** Called for each duplicate key in a mapping. */
  readonly onDuplicate: (message: string) => void;
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
export function valuesOf({ contents }: Document, options: YamlReading): unknown {
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
    const lines = new Map<string, number>();
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
      const line = lineOf(keyNode);
      const before = lines.get(name);
      if (before !== undefined)
        options.onDuplicate(
          `${file}:${line}: "${name}" is written twice, first in line ${before}; GitLab takes the last`,
        );
      lines.set(name, line);
      // Assigned, it would not become a key but the object's prototype.
      if (name !== '__proto__') map[name] = found.value;
    }
    return { value: map, size };
  }

  function lineOf(node: Node | null): number {
    const start = node?.range?.[0];
    return options.linesBefore + (start === undefined ? 1 : options.lineCounter.linePos(start).line);
  }

  function placeOf(node: Node): string {
    return `${file}:${lineOf(node)}`;
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

/** @throws {PipelineError} `refused` for a date without quotes. */
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
