/** `[a-z0]`: ranges of code points, both ends included. It may hold `/`, as in doublestar. */
export interface CharacterClass {
  readonly negated: boolean;
  readonly ranges: readonly (readonly [from: number, to: number])[];
}

type ReadClass =
  | { readonly ok: true; readonly set: CharacterClass; readonly end: number }
  | { readonly ok: false; readonly problem: string };

export const classHas = ({ negated, ranges }: CharacterClass, code: number): boolean =>
  ranges.some(([from, to]) => from <= code && code <= to) !== negated;

/** Reads the class whose `[` stands at `from`; `end` is the position behind its `]`. */
export function readClass(pattern: string, from: number): ReadClass {
  let at = from + 1;
  const negated = pattern[at] === '^' || pattern[at] === '!';
  if (negated) at += 1;
  if (pattern[at] === ']') return refuse("has an empty class '[]'; write what it should hold");
  const ranges: [number, number][] = [];
  while (pattern[at] !== ']') {
    const first = readCharacter(pattern, at);
    if (first === undefined)
      return refuse(String.raw`has a '[' without its ']'; write '\[' for the character itself`);
    at = first.end;
    const second =
      pattern[at] === '-' && pattern[at + 1] !== ']' ? readCharacter(pattern, at + 1) : undefined;
    if (second === undefined) {
      ranges.push([first.code, first.code]);
    } else {
      ranges.push([first.code, second.code]);
      at = second.end;
    }
  }
  return { ok: true, set: { negated, ranges }, end: at + 1 };
}

function readCharacter(
  pattern: string,
  from: number,
): { readonly code: number; readonly end: number } | undefined {
  const at = pattern[from] === '\\' ? from + 1 : from;
  const code = pattern.codePointAt(at);
  return code === undefined ? undefined : { code, end: at + (code > 0xffff ? 2 : 1) };
}

const refuse = (problem: string): { readonly ok: false; readonly problem: string } => ({
  ok: false,
  problem,
});
