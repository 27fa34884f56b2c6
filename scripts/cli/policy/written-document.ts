import { isRecord } from '../../../policies/document/reading.ts';

/** An entry as it was written, e.g. a rule; empty if it is not an object. */
export type WrittenEntry = Readonly<Record<string, unknown>>;

export const entryOf = (value: unknown): WrittenEntry => (isRecord(value) ? value : {});

export const entriesOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

/** The entries under a key of a document, e.g. its rules. */
export const entriesAt = (document: unknown, key: string): readonly WrittenEntry[] =>
  entriesOf(entryOf(document)[key]).map(entryOf);
