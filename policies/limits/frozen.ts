import type { LimitSet } from './limits.ts';
import { isValidAt, type Validity } from './validity.ts';

/** Nothing of a subject starts for a while: somebody said so, and why. Running jobs finish. */
export interface Freeze extends Validity {
  /** `subjectKey`. */
  readonly subject: string;
  readonly id: string;
  readonly reason: string;
  readonly owner?: string;
  /** Who did it. */
  readonly by?: string;
  /** IANA zone the edges were written in, and are told in. */
  readonly zone: string;
}

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
