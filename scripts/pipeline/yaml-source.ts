import { type Document, isMap as isMapNode, isScalar, LineCounter, parseAllDocuments } from 'yaml';

/** A mapping as YAML gives it. */
export type YamlMap = Readonly<Record<string, unknown>>;

/** GitLab's `!reference [job, key, …]`: stands for the value at that path of the whole configuration. */
export class Reference {
  readonly path: readonly string[];
  constructor(path: readonly string[]) {
    this.path = path;
  }
}

export const isMap = (value: unknown): value is YamlMap =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Reference);

/** Anchors are used freely in pipelines; this bounds what a hostile file can make of them. */
const ALIASES_MAX = 10_000;

export interface YamlSource {
  readonly map: YamlMap;
  /** The line each key of the top level stands on, from 1. */
  readonly lines: ReadonlyMap<string, number>;
}

const EMPTY: YamlSource = { map: {}, lines: new Map() };

/** Reads one file's text. What cannot be read is named in `problems` and left out. */
export function parseYaml(text: string, file: string, problems: string[]): YamlSource {
  const lineCounter = new LineCounter();
  const documents = parseAllDocuments(text, {
    lineCounter,
    merge: true,
    customTags: [
      {
        tag: '!reference',
        collection: 'seq',
        // The node's own values, so that a path may hold anchors; GitLab allows strings only.
        resolve: (sequence) => new Reference(Array.from(sequence.toJSON() as unknown[], String)),
      },
    ],
  });
  if ('empty' in documents) return EMPTY;
  const sources: YamlSource[] = [];
  for (const document of documents) {
    for (const { message } of document.errors) problems.push(`${file}: ${message.split('\n')[0]}`);
    if (document.errors.length > 0) continue;
    const value: unknown = document.toJS({ maxAliasCount: ALIASES_MAX });
    if (isMap(value)) sources.push({ map: value, lines: topLines(document, lineCounter) });
    else if (value !== null) problems.push(`${file}: the top level must be a mapping`);
  }
  // A first document with `spec:` declares inputs; the pipeline is the one after it.
  const [first, second] = sources;
  return (first !== undefined && 'spec' in first.map ? second : first) ?? EMPTY;
}

function topLines({ contents }: Document, lineCounter: LineCounter): ReadonlyMap<string, number> {
  const lines = new Map<string, number>();
  if (!isMapNode(contents)) return lines;
  for (const { key } of contents.items) {
    if (isScalar(key) && key.range) lines.set(String(key.value), lineCounter.linePos(key.range[0]).line);
  }
  return lines;
}
