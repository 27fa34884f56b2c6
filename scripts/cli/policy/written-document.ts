import { isRecord } from '../../../policies/document/reading.ts';

export type WrittenEntry = Readonly<Record<string, unknown>>;

export const entryOf = (value: unknown): WrittenEntry => (isRecord(value) ? value : {});

export const entriesOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

export const entriesAt = (document: unknown, key: string): readonly WrittenEntry[] =>
  entriesOf(entryOf(document)[key]).map(entryOf);
