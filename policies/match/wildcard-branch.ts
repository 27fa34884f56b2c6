import type { Alternative } from './wildcard-alternatives.ts';
import { type CharacterClass, readClass } from './wildcard-class.ts';

/** One step of a pattern without braces. `components` is `**` with the `/` behind it: none or more whole components. */
export type Token =
  | { readonly kind: 'character'; readonly code: number }
  | { readonly kind: 'any' }
  | { readonly kind: 'class'; readonly set: CharacterClass }
  | { readonly kind: 'run' }
  | { readonly kind: 'components' }
  | { readonly kind: 'rest' };

export interface Branch {
  /** What every match begins with: most texts are refused by this alone. */
  readonly prefix: string;
  /** How many tokens the prefix is made of. */
  readonly prefixTokens: number;
  readonly tokens: readonly Token[];
  /** From here on a text may end although tokens are left. */
  readonly mayEndAt: ReadonlySet<number>;
}

type CompiledBranch =
  | { readonly ok: true; readonly branch: Branch }
  | { readonly ok: false; readonly problem: string };

export const SLASH = 0x2f;

export function compileBranch({ pattern, afterBrace }: Alternative): CompiledBranch {
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
