import { anyButLineFeed } from './code-points.ts';
import { type Expression, RegexProblem } from './expression.ts';
import { readClass } from './read-class.ts';
import { readEscape } from './read-escape.ts';

/** RE2's own bound for `{n}`. */
const REPEAT_MAX = 1_000;
/** Deeper than anybody nests groups on purpose; the reader calls itself once per group. */
const DEPTH_MAX = 50;

const NOTHING: Expression = { kind: 'nothing' };

/** Reads a pattern. @throws {RegexProblem} */
export function parseRegex(pattern: string): Expression {
  const reader = new PatternReader(pattern);
  const expression = reader.readEither(false, 0);
  // Only a ')' stops the reader before the end.
  if (reader.at < pattern.length)
    throw new RegexProblem(
      String.raw`has a ')' without its '(' (write '\)' for the character itself)`,
      reader.at,
    );
  return expression;
}

class PatternReader {
  at = 0;
  readonly #pattern: string;

  constructor(pattern: string) {
    this.#pattern = pattern;
  }

  /** `a|b|c` up to the end or the `)` of the group around it. `(?i)` holds until there. */
  readEither(folded: boolean, depth: number): Expression {
    const branches: Expression[] = [];
    let parts: Expression[] = [];
    let isFolded = folded;
    while (this.at < this.#pattern.length && this.#pattern[this.at] !== ')') {
      if (this.#pattern[this.at] === '|') {
        branches.push(sequenceOf(parts));
        parts = [];
        this.at += 1;
      } else if (this.#pattern.startsWith('(?i)', this.at)) {
        isFolded = true;
        this.at += 4;
      } else {
        parts.push(this.#readRepeated(isFolded, depth));
      }
    }
    branches.push(sequenceOf(parts));
    return branches.length === 1 ? sequenceOf(parts) : { kind: 'either', parts: branches };
  }

  #readRepeated(folded: boolean, depth: number): Expression {
    const start = this.at;
    if (this.#readCount() !== undefined)
      throw new RegexProblem(
        `has '${this.#pattern.slice(start, this.at)}' with nothing before it to repeat`,
        start,
      );
    const part = this.#readOne(folded, depth);
    const count = this.#readCount();
    if (count === undefined) return part;
    const next = this.at;
    if (this.#readCount() !== undefined)
      throw new RegexProblem(
        `repeats what is repeated already; put '(?:…)' around the inner one, seen`,
        next,
      );
    return { kind: 'repeat', part, ...count };
  }

  /** `*`, `+`, `?`, `{2}`, `{2,}`, `{2,5}`, each perhaps with the `?` that asks for few, which does not matter here. */
  #readCount(): { readonly min: number; readonly max?: number } | undefined {
    const count = this.#readBareCount();
    if (count !== undefined && this.#pattern[this.at] === '?') this.at += 1;
    return count;
  }

  #readBareCount(): { readonly min: number; readonly max?: number } | undefined {
    const sign = this.#pattern[this.at];
    if (sign === '*' || sign === '+' || sign === '?') {
      this.at += 1;
      if (sign === '?') return { min: 0, max: 1 };
      return { min: sign === '*' ? 0 : 1 };
    }
    const braces = sign === '{' ? /^\{(\d{1,9})(,(\d{0,9}))?\}/.exec(this.#pattern.slice(this.at)) : null;
    // As in RE2, a brace that does not count is a brace.
    if (braces === null) return undefined;
    const min = Number(braces[1]);
    const max = braces[2] === undefined ? min : braces[3] === '' ? undefined : Number(braces[3]);
    if (Math.max(min, max ?? 0) > REPEAT_MAX)
      throw new RegexProblem(`repeats more than ${REPEAT_MAX} times`, this.at);
    if (max !== undefined && max < min)
      throw new RegexProblem(`has '${braces[0]}', whose first number is larger than its second,`, this.at);
    this.at += braces[0].length;
    return max === undefined ? { min } : { min, max };
  }

  #readOne(folded: boolean, depth: number): Expression {
    const start = this.at;
    const sign = this.#pattern[start];
    switch (sign) {
      case '(':
        return this.#readGroup(folded, depth);
      case '[': {
        const { among, end } = readClass(this.#pattern, start, folded);
        this.at = end;
        return { kind: 'character', among };
      }
      case '\\': {
        const escaped = readEscape(this.#pattern, start);
        this.at = escaped.end;
        if (escaped.kind === 'position') return { kind: 'position', at: escaped.at };
        const ranges = escaped.kind === 'class' ? escaped.ranges : ([[escaped.code, escaped.code]] as const);
        return { kind: 'character', among: { ranges, negated: false, folded } };
      }
      case '.':
        this.at += 1;
        return { kind: 'character', among: anyButLineFeed };
      case '^':
      case '$':
        this.at += 1;
        return { kind: 'position', at: sign === '^' ? 'start' : 'end' };
      default: {
        const code = this.#pattern.codePointAt(start) ?? 0;
        this.at += code > 0xffff ? 2 : 1;
        return { kind: 'character', among: { ranges: [[code, code]], negated: false, folded } };
      }
    }
  }

  #readGroup(folded: boolean, depth: number): Expression {
    const start = this.at;
    const opening = /^\((?:\?i?:|(?!\?))/.exec(this.#pattern.slice(start))?.[0];
    if (opening === undefined) {
      const text = this.#pattern.slice(start, start + 3);
      throw new RegexProblem(
        `has '${text}', which is not supported (expected '(…)', '(?:…)', '(?i)' or '(?i:…)'),`,
        start,
      );
    }
    if (depth >= DEPTH_MAX) throw new RegexProblem(`nests more than ${DEPTH_MAX} groups`, start);
    this.at += opening.length;
    const inner = this.readEither(folded || opening === '(?i:', depth + 1);
    if (this.#pattern[this.at] !== ')')
      throw new RegexProblem(
        String.raw`has a '(' without its ')' (write '\(' for the character itself)`,
        start,
      );
    this.at += 1;
    return inner;
  }
}

function sequenceOf(parts: readonly Expression[]): Expression {
  const [first, ...rest] = parts;
  if (first === undefined) return NOTHING;
  return rest.length === 0 ? first : { kind: 'sequence', parts };
}
