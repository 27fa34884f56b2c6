/**
 * Invisible or reordering characters: control and format characters (all direction marks, ZWSP, BOM, tags),
 * line and paragraph separators, lone surrogates, unassigned characters, fillers and selectors drawn as
 * nothing, the empty Braille pattern, and unusual spaces.
 *
 * @see https://www.unicode.org/reports/tr44/ for the classes, https://www.unicode.org/reports/tr36/ for
 * their abuse
 */
const INVISIBLE =
  /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}\p{Cn}\p{Default_Ignorable_Code_Point}\u2800\u00a0\u1680\u2000-\u200a\u202f\u205f\u3000]+/gu;

/** Joiners and variation selectors of emoji could hide a difference between two names. */
const EMOJI_JOINERS = /(?<=[\p{Extended_Pictographic}\p{Emoji_Modifier}])[\u200d\ufe0e\ufe0f]+/gu;

/** Replaces each run of invisible characters, so that a text cannot forge, reorder or hide a line. */
const visible = (text: string, instead: string): string =>
  text.replace(EMOJI_JOINERS, '').replace(INVISIBLE, instead);

export const plain = (text: string): string => visible(text, ' ');

export const plainLines = (text: string, instead = ' '): string =>
  text
    .split(/\r?\n/)
    .map((line) => visible(line, instead))
    .join('\n');

export const oneLine = (text: string): string => plain(text).replace(/ {2,}/g, ' ').trim();

/** Cut in the middle, because paths differ at both ends. */
export function shortened(text: string, charactersMax: number): string {
  if (text.length <= charactersMax) return text;
  const room = Math.max(2, charactersMax - 1);
  const head = Math.ceil(room / 2);
  return plain(`${text.slice(0, head)}…${text.slice(text.length - (room - head))}`);
}

export const quoted = (text: string, charactersMax: number): string =>
  `"${shortened(oneLine(text), charactersMax)}"`;

/** Job lists and chat previews show about this much. */
const HEADLINE_CHARACTERS_MAX = 120;
const LABEL_CHARACTERS_MIN = 12;

/** A first line about a subject. If it is too long, the name is shortened, because the numbers matter more. */
export function fitted(subjectLabel: string, line: (label: string) => string): string {
  const label = oneLine(subjectLabel);
  const whole = line(label);
  if (fits(whole)) return whole;
  const room = label.length - (whole.length - HEADLINE_CHARACTERS_MAX);
  return cutLine(line(shortened(label, Math.max(LABEL_CHARACTERS_MIN, room))));
}

export const cutLine = (line: string): string =>
  plain(fits(line) ? line : `${line.slice(0, HEADLINE_CHARACTERS_MAX - 1)}…`);

const fits = (line: string): boolean => line.length <= HEADLINE_CHARACTERS_MAX;

const ENTRIES_MAX = 5;
const ENTRY_CHARACTERS_MAX = 60;

export function listText(entries: readonly string[], joint: 'and' | 'or'): string {
  const shown = entries.slice(0, ENTRIES_MAX).map((each) => shortened(oneLine(each), ENTRY_CHARACTERS_MAX));
  const more = entries.length - shown.length;
  const all = more === 0 ? shown : [...shown, `${more} more`];
  return joinedText(all, joint);
}

export function joinedText(entries: readonly string[], joint: 'and' | 'or'): string {
  const last = entries.at(-1) ?? '';
  return entries.length < 2 ? last : `${entries.slice(0, -1).join(', ')} ${joint} ${last}`;
}

export const compareTexts = (a = '', b = ''): number => (a < b ? -1 : a > b ? 1 : 0);

/** Quotes a path or name so that a printed command can be pasted into a POSIX shell. */
export const shellWord = (text: string): string =>
  /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
