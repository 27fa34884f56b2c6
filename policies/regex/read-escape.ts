import { type CodeRange, DIGITS, othersThan, SPACES, WORDS } from './code-points.ts';
import { type Position, RegexProblem } from './expression.ts';

/** What stands behind a backslash: a class of characters, or one character. */
export type Escape =
  | { readonly kind: 'class'; readonly ranges: readonly CodeRange[]; readonly end: number }
  | { readonly kind: 'code'; readonly code: number; readonly end: number }
  | { readonly kind: 'position'; readonly at: Position; readonly end: number };

const CLASSES: ReadonlyMap<string, readonly CodeRange[]> = new Map([
  ['d', DIGITS],
  ['D', othersThan(DIGITS)],
  ['w', WORDS],
  ['W', othersThan(WORDS)],
  ['s', SPACES],
  ['S', othersThan(SPACES)],
]);

const POSITIONS: ReadonlyMap<string, Position> = new Map([
  ['A', 'start'],
  ['z', 'end'],
  ['b', 'word-edge'],
  ['B', 'no-word-edge'],
]);

const CONTROLS: ReadonlyMap<string, number> = new Map([
  ['a', 0x07],
  ['t', 0x09],
  ['n', 0x0a],
  ['v', 0x0b],
  ['f', 0x0c],
  ['r', 0x0d],
]);

/** `\x41`, `\x{1F600}` */
const HEX = /\\x(?:([0-9A-Fa-f]{2})|\{([0-9A-Fa-f]{1,6})\})/y;

/** Reads the escape whose backslash stands at `from`. */
export function readEscape(pattern: string, from: number): Escape {
  const letter = pattern[from + 1];
  if (letter === undefined) throw new RegexProblem(String.raw`ends in a '\'; write '\\' for one`, from);
  const end = from + 2;
  const ranges = CLASSES.get(letter);
  if (ranges !== undefined) return { kind: 'class', ranges, end };
  const at = POSITIONS.get(letter);
  if (at !== undefined) return { kind: 'position', at, end };
  const code = CONTROLS.get(letter);
  if (code !== undefined) return { kind: 'code', code, end };
  if (letter === 'x') return readHex(pattern, from);
  // Letters and digits may mean something elsewhere (\pL, \1, \Q); only what has no meaning stands for itself.
  if (/[\p{L}\p{N}]/u.test(letter))
    throw new RegexProblem(`has '\\${letter}', which is not supported,`, from);
  const own = pattern.codePointAt(from + 1) ?? 0;
  return { kind: 'code', code: own, end: from + 1 + (own > 0xffff ? 2 : 1) };
}

function readHex(pattern: string, from: number): Escape {
  HEX.lastIndex = from;
  const found = HEX.exec(pattern);
  const code = Number.parseInt(found?.[1] ?? found?.[2] ?? '', 16);
  if (found === null || !(code <= 0x10ffff))
    throw new RegexProblem(String.raw`has a '\x' without a code such as '\x41' or '\x{1F600}'`, from);
  return { kind: 'code', code, end: from + found[0].length };
}
