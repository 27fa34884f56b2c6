import type { Freeze } from './freeze.ts';
import type { LimitSet } from './limits.ts';
import { isValidAt } from './validity.ts';

/** The freeze of a subject that holds longest; undefined: none holds. */
export function freezeOn({ freezes }: LimitSet, subject: string, nowMs: number): Freeze | undefined {
  let longest: Freeze | undefined;
  for (const freeze of freezes?.get(subject) ?? []) {
    if (isValidAt(freeze, nowMs) && (longest === undefined || endOf(freeze) > endOf(longest)))
      longest = freeze;
  }
  return longest;
}

const endOf = ({ untilMs = Number.POSITIVE_INFINITY }: Freeze): number => untilMs;
