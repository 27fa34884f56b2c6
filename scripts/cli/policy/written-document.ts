import { type DocumentProblem, isRecord } from '../../../policies/document/reading.ts';
import type { LimitSet } from '../../../policies/limits/limits.ts';
import type { Directory } from '../../../policies/place/directory.ts';
import type { Policy } from '../../../policies/policy.ts';

/** Documents that are valid, and as they were written. */
export interface WrittenDocuments {
  readonly policy: Policy;
  readonly policyDocument: unknown;
  readonly limits: LimitSet;
  readonly limitsDocument: unknown;
  readonly directory: Directory;
  readonly nowMs: number;
  /** IANA zone of the deployment's days. */
  readonly usageZone: string;
}

/** Something valid that is probably not meant, at its place in the document. */
export type Warning = DocumentProblem;

/** An entry as it was written, e.g. a rule; an empty one if it is none. */
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
