import type { CounterKey } from '../../../policies/claim.ts';
import type { RebuildReport } from './ledger.ts';

/** What the last recount of all records found, kept beside the books for whoever tells a figure. */
export interface RecountOutcome {
  /** Unix ms, when it began. */
  readonly recountedAtMs: number;
  /** Counters that do not show what their records make; at most {@link DRIFTING_KEPT_MAX}. */
  readonly drifting: readonly DriftingCounter[];
  /** How many more drift than are listed. */
  readonly unlisted: number;
}

export interface DriftingCounter {
  readonly key: CounterKey;
  /** Settled + held, whole units of the limit: as the counter had it, and as its records make it. */
  readonly committed: number;
  readonly recounted: number;
}

export interface RecountOutcomes {
  /** Absent: nobody has recounted yet. @throws {LedgerError} `ledger_unavailable` */
  read(): Promise<RecountOutcome | undefined>;
  /** @throws {LedgerError} `ledger_unavailable`; it may or may not be written. */
  write(outcome: RecountOutcome): Promise<void>;
}

/** Some 150 bytes each: an item stays far below its 400 KB. More of them are one fault, not as many. */
const DRIFTING_KEPT_MAX = 500;

/** @param recountedAtMs - Unix ms, when the recount began */
export function recountOutcome(
  { drift, unproven }: Pick<RebuildReport, 'drift' | 'unproven'>,
  recountedAtMs: number,
): RecountOutcome {
  const all = [...drift, ...unproven];
  return {
    recountedAtMs,
    drifting: all.slice(0, DRIFTING_KEPT_MAX).map(({ key, counter, recount }) => ({
      key,
      committed: counter.committed,
      recounted: recount.committed,
    })),
    unlisted: Math.max(0, all.length - DRIFTING_KEPT_MAX),
  };
}
