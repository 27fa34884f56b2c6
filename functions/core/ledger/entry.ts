import type { CounterKey } from '../../../policies/claim.ts';
import type { Unit } from '../../../policies/units/unit.ts';
import type { CounterAmounts, UncheckedCause } from './ledger.ts';

/** A late truth about one job: written once, never edited. The record keeps the sum of its entries in `corrected`. */
export interface CorrectionEntry {
  readonly jobId: number;
  /** 1, 2, 3 … per job, across generations. */
  readonly number: number;
  readonly generation: number;
  readonly cause: EntryCause;
  readonly atMs: number;
  readonly deltas: readonly EntryDelta[];
  /** The cause of unchecked deltas. */
  readonly unchecked?: UncheckedCause;
}

export type EntryCause =
  /** A settled job was reported again with another duration. */
  | 'duration'
  /** A released or expired job turned out to have run. */
  | 'late'
  /** The job is unknown to GitLab; the hold stays charged. */
  | 'expired'
  /** A new admission request for an expired, charged job: the charge is returned before the new hold. */
  | 'reopened';

export interface EntryDelta {
  readonly counter: CounterKey;
  readonly unit: Unit;
  /** Whole units, may be negative. */
  readonly delta: number;
  readonly fitted: boolean;
  readonly checked: boolean;
}

/**
 * The final word on a closed period: from then on its records need not be counted again. A correction that comes later
 * counts on top of it, and is taken into a new closing before garbage collection takes the entry.
 */
export interface ClosingEntry extends CounterAmounts {
  readonly key: CounterKey;
  readonly closedAtMs: number;
  /** Credits by hand that an older version counted in it. */
  readonly adjusted?: number;
}
