import { compareModes, type Mode } from './mode.ts';
import type { Rule } from './rule.ts';

/** A rule and how far it may go for this job. */
export interface Governing {
  readonly rule: Rule;
  readonly mode: Mode;
}

/**
 * Of several rules that switch on the same limits the strictest counts, since a limit is asked once per job. Equal ones
 * are told apart by id, so that the order of the document changes nothing.
 */
export function stricter(one: Governing | undefined, other: Governing): Governing {
  if (one === undefined) return other;
  const difference = compareModes(other.mode, one.mode);
  if (difference !== 0) return difference > 0 ? other : one;
  return other.rule.id < one.rule.id ? other : one;
}
