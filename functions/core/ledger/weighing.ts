import type { Violation } from '../../../policies/reason.ts';
import type { HoldJob } from './job.ts';
import type { RecordClaim } from './ledger.ts';
import type { CounterMerge } from './merge.ts';

/** What this call has seen of a counter, by counter name. A counter not in it has refused nobody yet. */
export type KnownCounters = ReadonlyMap<string, KnownCounter>;

export interface KnownCounter {
  readonly committed: number;
  readonly fitted: number;
  readonly settled: number;
}

export interface WeighedVerdict {
  readonly job: HoldJob;
  /** Empty: the job is kept. */
  readonly violations: readonly Violation[];
  /** What would have rejected it in mode `enforce`, and soft limits it passed. */
  readonly shadow: readonly Violation[];
  /** What the job will hold; nothing for a rejected one, whose claims only name their counters. */
  readonly claims: readonly RecordClaim[];
  /** What it asked in the end. */
  readonly ask: Pick<HoldJob, 'ask' | 'names'>;
  /** It does not fit, and whether its pipeline's grace lets it in has not been looked up. */
  readonly graceUnknown: boolean;
}

export interface WeighingResult {
  readonly verdicts: readonly WeighedVerdict[];
  /** Keyed by counter name: one merged write per counter of the kept jobs. */
  readonly merges: ReadonlyMap<string, CounterMerge>;
}
