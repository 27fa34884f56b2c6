/** Code points from … to …, both included. */
export type CodeRange = readonly [from: number, to: number];

/** What one character of a text may be. */
export interface CodePoints {
  readonly ranges: readonly CodeRange[];
  readonly negated: boolean;
  /** Upper and lower case are the same. */
  readonly folded: boolean;
}

export const CODE_MAX = 0x10ffff;

export const DIGITS: readonly CodeRange[] = [[0x30, 0x39]];
export const WORDS: readonly CodeRange[] = [
  [0x30, 0x39],
  [0x41, 0x5a],
  [0x5f, 0x5f],
  [0x61, 0x7a],
];
/** RE2's: tab, line feed, form feed, carriage return, space. */
export const SPACES: readonly CodeRange[] = [
  [0x09, 0x0a],
  [0x0c, 0x0d],
  [0x20, 0x20],
];
const LINE_FEED = 0x0a;

export const anyButLineFeed: CodePoints = { ranges: [[LINE_FEED, LINE_FEED]], negated: true, folded: false };

/** Everything that is not in these ranges, which stand in order and do not touch. */
export function othersThan(ranges: readonly CodeRange[]): readonly CodeRange[] {
  const others: CodeRange[] = [];
  let next = 0;
  for (const [from, to] of ranges) {
    if (from > next) others.push([next, from - 1]);
    next = to + 1;
  }
  others.push([next, CODE_MAX]);
  return others;
}

export function isAmong({ ranges, negated, folded }: CodePoints, code: number): boolean {
  const has = folded ? hasFolded(ranges, code) : inRanges(ranges, code);
  return has !== negated;
}

export function isWord(code: number | undefined): boolean {
  return code !== undefined && inRanges(WORDS, code);
}

function inRanges(ranges: readonly CodeRange[], code: number): boolean {
  for (const [from, to] of ranges) if (from <= code && code <= to) return true;
  return false;
}

/** The Kelvin sign is a k, and the long s an s: their lower case alone would not tell. */
function hasFolded(ranges: readonly CodeRange[], code: number): boolean {
  const upper = oneCode(String.fromCodePoint(code).toUpperCase()) ?? code;
  const lower = oneCode(String.fromCodePoint(upper).toLowerCase()) ?? code;
  const own = oneCode(String.fromCodePoint(code).toLowerCase()) ?? code;
  return [code, upper, lower, own].some((each) => inRanges(ranges, each));
}

/** `ß` in upper case is two characters and therefore no other case of it. */
function oneCode(text: string): number | undefined {
  const code = text.codePointAt(0);
  return code !== undefined && text.length === (code > 0xffff ? 2 : 1) ? code : undefined;
}
