import type { CountedKind } from './kinds/counted-kinds.ts';
import { compareModes, type Mode } from './mode.ts';
import type { CountedRule } from './rule.ts';

/** A rule that switches on limits, and how far it may go for this job. */
export interface Governor {
  readonly rule: CountedRule;
  readonly mode: Mode;
  /** The job is exempt from this rule: it is metered, not asked. */
  readonly exempt: boolean;
}

/**
 * Which rule asks the limits of each kind. The strictest of several counts, since a limit is asked once per job; one the
 * job is exempt from asks only where no other does. Equal ones are told apart by id, so that the order of the document
 * changes nothing.
 */
export class Governing {
  readonly #byKind = new Map<CountedKind, Governor>();

  add(governor: Governor): void {
    const { kind } = governor.rule;
    const present = this.#byKind.get(kind);
    if (present === undefined || compare(governor, present) > 0) this.#byKind.set(kind, governor);
  }

  of(kind: CountedKind): Governor | undefined {
    return this.#byKind.get(kind);
  }
}

function compare(one: Governor, other: Governor): number {
  if (one.exempt !== other.exempt) return one.exempt ? -1 : 1;
  return compareModes(one.mode, other.mode) || (one.rule.id < other.rule.id ? 1 : -1);
}
