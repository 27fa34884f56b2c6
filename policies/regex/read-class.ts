import type { CodePoints, CodeRange } from './code-points.ts';
import { RegexProblem } from './expression.ts';
import { readEscape } from './read-escape.ts';

/** `[a-z0-9_.-]` and `[^/]`. A `]` that comes first, and a `-` at either end, stand for themselves, as in RE2. */
export function readClass(
  pattern: string,
  from: number,
  folded: boolean,
): { readonly among: CodePoints; readonly end: number } {
  const negated = pattern[from + 1] === '^';
  const first = from + (negated ? 2 : 1);
  const ranges: CodeRange[] = [];
  let at = first;
  while (pattern[at] !== ']' || at === first) {
    const low = readMember(pattern, at, from);
    at = low.end;
    if (pattern[at] !== '-' || pattern[at + 1] === ']' || pattern[at + 1] === undefined) {
      ranges.push(...low.ranges);
      continue;
    }
    const high = readMember(pattern, at + 1, from);
    if (low.code === undefined || high.code === undefined || low.code > high.code) {
      const text = pattern.slice(low.start, high.end);
      throw new RegexProblem(
        `has the range '${text}', which does not go from a lower to a higher character,`,
        low.start,
      );
    }
    ranges.push([low.code, high.code]);
    at = high.end;
  }
  return { among: { ranges, negated, folded }, end: at + 1 };
}

interface Member {
  readonly ranges: readonly CodeRange[];
  /** Absent: a class such as `\d`, which can neither begin nor end a range. */
  readonly code?: number;
  readonly start: number;
  readonly end: number;
}

function readMember(pattern: string, start: number, from: number): Member {
  const code = pattern.codePointAt(start);
  if (code === undefined)
    throw new RegexProblem(String.raw`has a '[' without its ']' (write '\[' for the character itself)`, from);
  if (pattern.startsWith('[:', start))
    throw new RegexProblem("has a class such as '[:alpha:]', which is not supported,", start);
  if (pattern[start] !== '\\') return { ...single(code), start, end: start + (code > 0xffff ? 2 : 1) };
  const escaped = readEscape(pattern, start);
  if (escaped.kind === 'position')
    throw new RegexProblem(
      `has '${pattern.slice(start, escaped.end)}' inside a class, where it means nothing,`,
      start,
    );
  if (escaped.kind === 'class') return { ranges: escaped.ranges, start, end: escaped.end };
  return { ...single(escaped.code), start, end: escaped.end };
}

const single = (code: number): { readonly ranges: readonly CodeRange[]; readonly code: number } => ({
  ranges: [[code, code]],
  code,
});
