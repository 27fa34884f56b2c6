import { oneLine, shortened } from './plain-text.ts';

const ENTRIES_MAX = 5;
const ENTRY_CHARACTERS_MAX = 60;

/** Entries as a sentence has them: `always`, `always or never`, `a, b or c`. A long list ends in how many more there are. */
export function listText(entries: readonly string[], joint: 'and' | 'or'): string {
  const told = entries.slice(0, ENTRIES_MAX).map((each) => shortened(oneLine(each), ENTRY_CHARACTERS_MAX));
  const more = entries.length - told.length;
  const all = more === 0 ? told : [...told, `${more} more`];
  const last = all.at(-1) ?? '';
  return all.length < 2 ? last : `${all.slice(0, -1).join(', ')} ${joint} ${last}`;
}
