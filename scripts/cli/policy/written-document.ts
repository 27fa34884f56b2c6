import { type DocumentProblem, isRecord } from '../../../policies/document/reading.ts';

/** Something valid that is probably wrong, with its path in the document. */
export type Warning = DocumentProblem;

/** An entry as it was written, e.g. a rule; empty if it is not an object. */
export type WrittenEntry = Readonly<Record<string, unknown>>;

export const entryOf = (value: unknown): WrittenEntry => (isRecord(value) ? value : {});

export const entriesOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

/** The entries under a key of a document, e.g. its rules. */
export const entriesAt = (document: unknown, key: string): readonly WrittenEntry[] =>
  entriesOf(entryOf(document)[key]).map(entryOf);

/** Returns the default zone of days in a policy's rules. The document is already valid. */
export function rulesZone(policyDocument: unknown): string {
  const { zone } = entryOf(policyDocument);
  return typeof zone === 'string' ? zone : 'UTC';
}
