/**
 * Image patterns as GitLab Runner's `allowed_images` reads them (doublestar v4 `Match`): `*` is any run without `/`,
 * `**` as a whole path component crosses `/`, `?` is one character but `/`, `[a-z]` and `[^a-z]` or `[!a-z]` are
 * classes, `{a,b}` alternatives, `\` takes the next character as it is. The text is matched as written: no registry,
 * tag or `library/` is put in. Matching takes at most pattern × text steps.
 *
 * @see https://docs.gitlab.com/runner/executors/kubernetes/#restrict-docker-images-and-services
 */
export interface Wildcard {
  readonly pattern: string;
  matches(text: string): boolean;
}

/** Far above any image pattern; a bound for the steps of one match. */
const PATTERN_CHARACTERS_MAX = 512;

/** `problem` says what is wrong with the pattern and what to write instead. */
type CompiledWildcard =
  | { readonly ok: true; readonly wildcard: Wildcard }
  | { readonly ok: false; readonly problem: string };

export function compileWildcard(pattern: string): CompiledWildcard {
  if (pattern.length > PATTERN_CHARACTERS_MAX) {
    return {
      ok: false,
      problem: `has ${pattern.length} characters; expected at most ${PATTERN_CHARACTERS_MAX}`,
    };
  }
  const alternatives = expandAlternatives(pattern);
  if (!alternatives.ok) return alternatives;
  const branches: Branch[] = [];
  for (const alternative of alternatives.alternatives) {
    const compiled = compileBranch(alternative);
    if (!compiled.ok) return compiled;
    branches.push(compiled.branch);
  }
  return {
    ok: true,
    wildcard: {
      pattern,
      matches: (text) => branches.some((branch) => branchMatches(branch, text)),
    },
  };
}

/**
 * Simulates the pattern as a state machine: after each character, `states` holds every token that may come
 * next. The work is bounded by tokens × characters.
 */
function branchMatches({ prefix, prefixTokens, tokens, mayEndAt }: Branch, text: string): boolean {
  const begins = text.startsWith(prefix);
  if (!begins && !mayEndInPrefix(prefix, text)) return false;
  let states = new Set<number>();
  enterToken(begins ? prefixTokens : 0, tokens, states);
  for (let at = begins ? prefix.length : 0; at < text.length && states.size > 0; ) {
    const code = text.codePointAt(at) ?? 0;
    at += code > 0xffff ? 2 : 1;
    const next = new Set<number>();
    for (const state of states) advanceToken(state, code, tokens, next);
    states = next;
  }
  for (const state of states) if (mayEndAt.has(state)) return true;
  return false;
}

/** A state is a token's index; one past `components` that is inside a component is kept as a negative number. */
function enterToken(index: number, tokens: readonly Token[], states: Set<number>): void {
  states.add(index);
  const kind = tokens[index]?.kind;
  // All three may stand for nothing, so what follows them is possible as well.
  if (kind === 'run' || kind === 'components' || kind === 'rest') enterToken(index + 1, tokens, states);
}

/** Adds the states after a character. */
function advanceToken(state: number, code: number, tokens: readonly Token[], next: Set<number>): void {
  const index = state < 0 ? -state - 1 : state;
  const token = tokens[index];
  if (token === undefined) return;
  switch (token.kind) {
    case 'character':
      if (code === token.code) enterToken(index + 1, tokens, next);
      return;
    case 'any':
      if (code !== SLASH) enterToken(index + 1, tokens, next);
      return;
    case 'class':
      if (classHas(token.set, code)) enterToken(index + 1, tokens, next);
      return;
    case 'run':
      if (code !== SLASH) enterToken(index, tokens, next);
      return;
    case 'components':
      if (code === SLASH) enterToken(index, tokens, next);
      else next.add(-index - 1);
      return;
    case 'rest':
      enterToken(index, tokens, next);
  }
}

/** `a/**` matches `a`, which is shorter than the prefix by its `/`. */
const mayEndInPrefix = (prefix: string, text: string): boolean =>
  prefix.length === text.length + 1 && prefix.endsWith('/') && prefix.startsWith(text);

/** One step of a pattern without braces. `components` is `**` with the `/` behind it: none or more whole components. */
type Token =
  | { readonly kind: 'character'; readonly code: number }
  | { readonly kind: 'any' }
  | { readonly kind: 'class'; readonly set: CharacterClass }
  | { readonly kind: 'run' }
  | { readonly kind: 'components' }
  | { readonly kind: 'rest' };

interface Branch {
  /** Every match starts with it, so that most texts are refused early. */
  readonly prefix: string;
  /** Number of tokens in the prefix. */
  readonly prefixTokens: number;
  readonly tokens: readonly Token[];
  /** From here on a text may end although tokens are left. */
  readonly mayEndAt: ReadonlySet<number>;
}

type CompiledBranch =
  | { readonly ok: true; readonly branch: Branch }
  | { readonly ok: false; readonly problem: string };

const SLASH = 0x2f;

function compileBranch({ pattern, afterBrace }: Alternative): CompiledBranch {
  const tokens: Token[] = [];
  let startsComponent = true;
  for (let at = 0; at < pattern.length; ) {
    if (afterBrace.includes(at)) startsComponent = true;
    const character = pattern[at];
    if (character === '*') {
      const stars = runOfStars(pattern, at, afterBrace);
      if (stars > 2) return refuse("has three or more '*' in a row; write '*' or '**'");
      at += stars;
      if (stars === 2 && startsComponent && at === pattern.length) {
        tokens.push({ kind: 'rest' });
      } else if (stars === 2 && startsComponent && pattern[at] === '/') {
        if (tokens.at(-1)?.kind === 'components') return refuse("has '**/**'; write '**' once");
        tokens.push({ kind: 'components' });
        at += 1;
        continue;
      } else if (tokens.at(-1)?.kind !== 'run') {
        // Two runs on end, of two alternatives, are one.
        tokens.push({ kind: 'run' });
      }
      startsComponent = false;
    } else if (character === '?') {
      tokens.push({ kind: 'any' });
      at += 1;
      startsComponent = false;
    } else if (character === '[') {
      const read = readClass(pattern, at);
      if (!read.ok) return read;
      tokens.push({ kind: 'class', set: read.set });
      at = read.end;
      startsComponent = false;
    } else {
      if (character === '\\') at += 1;
      const code = pattern.codePointAt(at);
      if (code === undefined) return refuse(String.raw`ends with '\'; write '\\' for the character itself`);
      tokens.push({ kind: 'character', code });
      at += code > 0xffff ? 2 : 1;
      startsComponent = code === SLASH;
    }
  }
  if (tokens.at(-1)?.kind === 'rest' && tokens.at(-2)?.kind === 'components')
    return refuse("has '**/**'; write '**' once");
  return {
    ok: true,
    branch: {
      ...literalPrefix(tokens),
      tokens,
      mayEndAt: endings(tokens),
    },
  };
}

/** The end, and what may stand for nothing before it: `a/**` matches `a` as well, with and without a `/` at its end. */
function endings(tokens: readonly Token[]): ReadonlySet<number> {
  const ends = new Set([tokens.length]);
  const last = tokens.length - 1;
  const kind = tokens[last]?.kind;
  if (kind === 'run' || kind === 'rest' || kind === 'components') ends.add(last);
  const before = tokens[last - 1];
  const slashBefore = before?.kind === 'character' && before.code === SLASH;
  if (slashBefore && (kind === 'rest' || kind === 'components')) ends.add(last - 1);
  return ends;
}

function literalPrefix(tokens: readonly Token[]): { readonly prefix: string; readonly prefixTokens: number } {
  let prefix = '';
  let prefixTokens = 0;
  for (const token of tokens) {
    if (token.kind !== 'character') break;
    prefix += String.fromCodePoint(token.code);
    prefixTokens += 1;
  }
  return { prefix, prefixTokens };
}

/** Stars of two alternatives are no `**`, though they meet. */
function runOfStars(pattern: string, from: number, afterBrace: Alternative['afterBrace']): number {
  let to = from + 1;
  while (pattern[to] === '*' && !afterBrace.includes(to)) to += 1;
  return to - from;
}

const refuse = (problem: string): { readonly ok: false; readonly problem: string } => ({
  ok: false,
  problem,
});

/** `[a-z0]`: ranges of code points, both ends included. It may hold `/`, as in doublestar. */
interface CharacterClass {
  readonly negated: boolean;
  readonly ranges: readonly (readonly [from: number, to: number])[];
}

type ReadClass =
  | { readonly ok: true; readonly set: CharacterClass; readonly end: number }
  | { readonly ok: false; readonly problem: string };

const classHas = ({ negated, ranges }: CharacterClass, code: number): boolean =>
  ranges.some(([from, to]) => from <= code && code <= to) !== negated;

/** Reads the class whose `[` stands at `from`; `end` is the position behind its `]`. */
function readClass(pattern: string, from: number): ReadClass {
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

/** A pattern without braces. `afterBrace` are the positions an alternative began at: `**` counts as a component there. */
interface Alternative {
  readonly pattern: string;
  readonly afterBrace: readonly number[];
}

type Alternatives =
  | { readonly ok: true; readonly alternatives: readonly Alternative[] }
  | { readonly ok: false; readonly problem: string };

/** Each pair of braces multiplies the alternatives, as in `{a,b}{c,d}`. */
const ALTERNATIVES_MAX = 64;

/** `a{b,c}d` → `abd`, `acd`; braces may be nested and alternatives empty. */
function expandAlternatives(pattern: string): Alternatives {
  const done: Alternative[] = [];
  const open: Alternative[] = [{ pattern, afterBrace: [] }];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const brace = firstBrace(next.pattern);
    if (brace === undefined) {
      done.push(next);
    } else if (typeof brace === 'string') {
      return { ok: false, problem: brace };
    } else {
      const before = next.pattern.slice(0, brace.open);
      const after = next.pattern.slice(brace.close + 1);
      const afterBrace = [...next.afterBrace, brace.open];
      // Last one on the stack first, so that the alternatives come out in the order they are written.
      for (const part of brace.parts.reverse()) open.push({ pattern: before + part + after, afterBrace });
    }
    if (done.length + open.length > ALTERNATIVES_MAX) {
      return {
        ok: false,
        problem: `stands for more than ${ALTERNATIVES_MAX} patterns; split it into several`,
      };
    }
  }
  return { ok: true, alternatives: done };
}

interface Brace {
  readonly open: number;
  readonly close: number;
  readonly parts: string[];
}

function firstBrace(pattern: string): Brace | string | undefined {
  let open = -1;
  let depth = 0;
  let partStart = 0;
  const parts: string[] = [];
  for (let at = 0; at < pattern.length; at += 1) {
    const character = pattern[at];
    if (character === '\\') {
      at += 1;
    } else if (character === '{') {
      depth += 1;
      if (depth === 1) {
        open = at;
        partStart = at + 1;
      }
    } else if (character === '}') {
      if (depth === 0) return String.raw`has a '}' without its '{'; write '\}' for the character itself`;
      depth -= 1;
      if (depth === 0) {
        parts.push(pattern.slice(partStart, at));
        return { open, close: at, parts };
      }
    } else if (character === ',' && depth === 1) {
      parts.push(pattern.slice(partStart, at));
      partStart = at + 1;
    }
  }
  return depth > 0 ? String.raw`has a '{' without its '}'; write '\{' for the character itself` : undefined;
}
