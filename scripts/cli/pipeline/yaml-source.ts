import {
  type Document,
  isMap as isMapNode,
  isScalar,
  LineCounter,
  parseAllDocuments,
  type YAMLParseError,
  type YAMLSeq,
} from 'yaml';
import { PipelineError } from './pipeline-error.ts';
import { NO_PIPELINE } from './refusals.ts';
import type { WorkBudget } from './work-budget.ts';
import { isMap, type YamlMap } from './yaml-map.ts';
import { valuesOf } from './yaml-values.ts';

export interface YamlSource {
  readonly map: YamlMap;
  /** The line each key of the top level stands on, from 1; the last one of a key that is written twice. */
  readonly lines: ReadonlyMap<string, number>;
}

/** Collects notes during reading. */
export interface ReadingNotes {
  /** Possible differences from GitLab; each with its place. */
  readonly problems: string[];
  /** Understood as GitLab does, which may not be what was meant; each with its place. */
  readonly warnings: string[];
  readonly budget: WorkBudget;
}

const EMPTY: YamlSource = { map: {}, lines: new Map() };

/**
 * Reads one document of a file.
 *
 * @param linesBefore - how many lines of the file stand before it.
 * @throws {PipelineError} for text that is no YAML or no mapping, is too deep, or stands for too many values.
 */
export function parseYamlSource(
  text: string,
  file: string,
  notes: ReadingNotes,
  linesBefore = 0,
): YamlSource {
  const { warnings, budget } = notes;
  const lineCounter = new LineCounter();
  budget.spend(text.length / CHARACTERS_PER_VALUE, file);
  const document = parsed(text, file, lineCounter);
  if (document === undefined) return EMPTY;
  const [error] = document.errors;
  if (error !== undefined) throw unparsable(error, text, file, linesBefore);
  const value = valuesOf(document, {
    file,
    lineCounter,
    budget,
    linesBefore,
    onDuplicate: (message) => warnings.push(message),
  });
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
    // The library recurses into every level.
    if (error instanceof RangeError)
      throw new PipelineError('too_large', `${file}: too many mappings and lists inside each other`);
    throw error;
  }
}

/** The library's first line, with the line counted from the top of the file. */
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
