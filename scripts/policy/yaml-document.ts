import { type Document, isMap, isNode, isPair, isScalar, LineCounter, parseDocument, visit } from 'yaml';
import { type DocumentPath, type DocumentProblem, problemText } from '../../policies/document/reading.ts';
import { SPENT_KINDS } from '../../policies/unit.ts';
import { DocumentError, UsageError } from '../terminal/command.ts';
import { readUserFile } from '../terminal/user-file.ts';

/** Numbers under these keys may have decimals: they are read as they are written, never through a float. */
const DECIMALS: ReadonlySet<string> = new Set([
  ...SPENT_KINDS,
  'rate_per_minute',
  // The rest are keys of fixtures.
  'spent',
  'held',
  'cost',
]);
/** A file that is no YAML has a fault in each of its lines, and the parser quotes them. */
const FAULTS_MAX = 20;
const FAULT_CHARACTERS_MAX = 200;

/** A YAML file that could be read, and where each of its values stands. */
export interface YamlDocument {
  readonly text: string;
  readonly value: unknown;
  /** `policies/policy.yaml:12:9 rules[2].mode: …`. */
  locate(problem: DocumentProblem): string;
  /** Returns a value's position, from 1; for a missing one, that of its closest parent. */
  position(path: DocumentPath): Position;
}

interface Position {
  readonly line: number;
  readonly column: number;
}

/** Notes the problems of a document that is invalid, so that others are read all the same. */
export function collectProblems<Value>(problems: string[], read: () => Value): Value | undefined {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof DocumentError)) throw error;
    problems.push(...error.problems);
    return undefined;
  }
}

/** @throws {DocumentError} for a file that is unreadable or no YAML: `file:line:col message`, duplicate keys included. */
export function readYaml(file: string): YamlDocument {
  try {
    return parseYaml(readUserFile(file), file);
  } catch (error) {
    if (error instanceof UsageError) throw new DocumentError([error.message]);
    throw error;
  }
}

export function parseYaml(text: string, file: string): YamlDocument {
  const lines = new LineCounter();
  const options = { lineCounter: lines, prettyErrors: false, uniqueKeys: true, strict: true };
  const document = parseDocument(text, options);
  const at = (offset: number): string => {
    const { line, col } = lines.linePos(offset);
    return `${file}:${line}:${col}`;
  };
  const faults = [...document.errors, ...document.warnings];
  const shown = faults.slice(0, FAULTS_MAX).map((fault) => `${at(fault.pos[0])} ${shortened(fault.message)}`);
  const more = faults.length - FAULTS_MAX;
  if (more > 0) shown.push(`${file}: ${more} more faults; check that it is the right file`);
  if (shown.length > 0) throw new DocumentError(shown);
  keepDecimals(document);
  return {
    text,
    value: toValue(document, file),
    locate: (problem) => `${at(findOffset(document, problem))} ${problemText(problem)}`,
    position: (path) => {
      const { line, col } = lines.linePos(findOffset(document, { path, message: '' }));
      return { line, column: col };
    },
  };
}

const shortened = (message: string): string =>
  message.length > FAULT_CHARACTERS_MAX ? `${message.slice(0, FAULT_CHARACTERS_MAX)} …` : message;

function keepDecimals(document: Document): void {
  visit(document, {
    Pair(_, { key, value }) {
      if (!isScalar(key) || !DECIMALS.has(String(key.value)) || !isScalar(value)) return;
      if (typeof value.value === 'number' && value.source !== undefined) value.value = value.source;
    },
  });
}

function toValue(document: Document, file: string): unknown {
  try {
    // Aliases that multiply are refused here.
    return document.toJS({ maxAliasCount: 100 });
  } catch (error) {
    const message = error instanceof Error ? error.message : 'cannot be resolved';
    throw new DocumentError([`${file}:1:1 ${message}`]);
  }
}

/** Offset of a value; for a missing one, or an unknown key, that of the closest parent. */
function findOffset(document: Document, { path, atKey }: DocumentProblem): number {
  for (let length = path.length; length > 0; length -= 1) {
    const parent = document.getIn(path.slice(0, length - 1), true);
    const last = path[length - 1];
    if (isMap(parent)) {
      const pair = parent.items.find((item) => isPair(item) && isScalar(item.key) && item.key.value === last);
      const node = length === path.length && atKey !== true && isNode(pair?.value) ? pair.value : pair?.key;
      if (isNode(node) && node.range) return node.range[0];
    }
    const node = document.getIn(path.slice(0, length), true);
    if (isNode(node) && node.range) return node.range[0];
  }
  return document.contents?.range?.[0] ?? 0;
}
