import { parseAllDocuments } from 'yaml';

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

/** Reads one file's text. What cannot be read is named in `problems` and left out. */
export function parseYaml(text: string, file: string, problems: string[]): YamlMap {
  const documents = parseAllDocuments(text, {
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
  if ('empty' in documents) return {};
  const maps: YamlMap[] = [];
  for (const document of documents) {
    for (const { message } of document.errors) problems.push(`${file}: ${message.split('\n')[0]}`);
    if (document.errors.length > 0) continue;
    const value: unknown = document.toJS({ maxAliasCount: ALIASES_MAX });
    if (isMap(value)) maps.push(value);
    else if (value !== null) problems.push(`${file}: the top level must be a mapping`);
  }
  // A first document with `spec:` declares inputs; the pipeline is the one after it.
  const [first, second] = maps;
  return (first !== undefined && 'spec' in first ? second : first) ?? {};
}
