import type { CodePoints } from './code-points.ts';

/** A regular expression as it was written, read into its parts. */
export type Expression =
  | { readonly kind: 'nothing' }
  | { readonly kind: 'character'; readonly among: CodePoints }
  | { readonly kind: 'position'; readonly at: Position }
  | { readonly kind: 'sequence'; readonly parts: readonly Expression[] }
  | { readonly kind: 'either'; readonly parts: readonly Expression[] }
  /** `max` absent: as often as there is. */
  | { readonly kind: 'repeat'; readonly part: Expression; readonly min: number; readonly max?: number };

export type Position = 'start' | 'end' | 'word-edge' | 'no-word-edge';

/** Thrown while reading, caught in `parseRegex`: what is wrong, where, and what to write instead. */
export class RegexProblem extends Error {
  override readonly name = 'RegexProblem';

  /** @param at - index in the pattern; people count from 1. */
  constructor(problem: string, at: number) {
    super(`${problem} at character ${at + 1}`);
  }
}
