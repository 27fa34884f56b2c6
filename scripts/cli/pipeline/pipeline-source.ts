import { type InputArguments, inputValues, interpolate } from './inputs.ts';
import type { KnownLookup } from './known-run.ts';
import { isMap } from './yaml-map.ts';
import { parseYamlSource, type ReadingNotes, type YamlSource } from './yaml-source.ts';

/** Separates documents of a file; the first may be a header with inputs. */
const DIVIDER = /^---(?:[^\S\n][^\n]*)?(?:\n|$)/m;

export type ReadSource = (text: string, file: string, given: InputArguments) => YamlSource;

/** Reads each file once for the same inputs, however many worlds have it. */
export function sourceReader(lookUp: KnownLookup, notes: ReadingNotes): ReadSource {
  const read = new Map<string, YamlSource>();
  return (text, file, given) => {
    const key = JSON.stringify([file, given]);
    const source = read.get(key) ?? readPipelineFile(text, file, given, lookUp, notes);
    read.set(key, source);
    return source;
  };
}

const DOCUMENTS_MAX = 2;

function readPipelineFile(
  text: string,
  file: string,
  given: InputArguments,
  lookUp: KnownLookup,
  notes: ReadingNotes,
): YamlSource {
  const [first, second] = documentsOf(text);
  const header =
    first === undefined ? undefined : parseYamlSource(first.text, file, notes, first.linesBefore);
  const isHeader = second !== undefined && header !== undefined && isMap(header.map.spec);
  const values = inputValues(isHeader ? header.map : undefined, given, file);
  if (!isHeader || second === undefined) return header ?? { map: {}, lines: new Map() };
  return parseYamlSource(interpolate(second.text, values, lookUp, file), file, notes, second.linesBefore);
}

interface DocumentText {
  readonly text: string;
  readonly linesBefore: number;
}

function documentsOf(text: string): readonly DocumentText[] {
  const documents: DocumentText[] = [];
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
