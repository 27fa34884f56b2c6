/** The limits of a document with whose they are, in the words of edits: `group/101`, `personal`, `groups/acme/team-?`. */
import { isRecord } from '../../../../policies/document/reading.ts';
import { type LimitList, limitListOf, subjectOfEntry, writtenSubject } from '../desk/subject-text.ts';
import type { LimitsDocument } from '../limit-set.ts';
import { idOf, type LimitEntry } from './read-cells.ts';

/** The lists of a document that hold limits. */
export const LISTS: readonly LimitList[] = ['limits', 'personal_default', 'group_defaults'];

export interface PlacedEntry {
  readonly list: LimitList;
  readonly subject: string;
  readonly id: string;
  readonly entry: LimitEntry;
}

/** In document order. */
export const placedEntries = (document: LimitsDocument): readonly PlacedEntry[] =>
  LISTS.flatMap((list) => {
    const entries: unknown = document[list];
    if (!Array.isArray(entries)) return [];
    return entries.filter(isRecord).flatMap((entry): readonly PlacedEntry[] => {
      const subject = subjectOfEntry(list, entry);
      return subject === undefined ? [] : [{ list, subject, id: idOf(entry), entry }];
    });
  });

/** Tells limits apart; no id has a break in it. */
export const entryKey = (subject: string, id: string): string => `${id}\n${subject}`;

/** Where the limits of a subject stand, and what a new one begins with; undefined: this is no subject. */
export function entryPlaceOf(
  subject: string,
): { readonly list: LimitList; readonly start: LimitEntry } | undefined {
  const start = writtenSubject(subject);
  return start && { list: limitListOf(subject), start };
}
