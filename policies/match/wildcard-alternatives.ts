/** A pattern without braces. `afterBrace` are the positions an alternative began at: `**` counts as a component there. */
export interface Alternative {
  readonly pattern: string;
  readonly afterBrace: readonly number[];
}

type Alternatives =
  | { readonly ok: true; readonly alternatives: readonly Alternative[] }
  | { readonly ok: false; readonly problem: string };

/** `{a,b}{c,d}…` doubles with every pair of braces; nobody writes this many by hand. */
const ALTERNATIVES_MAX = 64;

/** `a{b,c}d` → `abd`, `acd`; braces may be nested and alternatives empty. */
export function expandAlternatives(pattern: string): Alternatives {
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
