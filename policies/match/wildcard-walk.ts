import { type Branch, SLASH, type Token } from './wildcard-branch.ts';
import { classHas } from './wildcard-class.ts';

/**
 * Walks all ways through the tokens at once: after each character of the text, `states` holds every token that could
 * be next. So the work is bounded by tokens × characters, whatever the pattern.
 */
export function branchMatches({ prefix, prefixTokens, tokens, mayEndAt }: Branch, text: string): boolean {
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
