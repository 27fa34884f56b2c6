/** What the second sums and their check cost a job: `functions/core/books`. */
import * as assumed from './assumptions.ts';
import type { CostQuestion } from './costing.ts';

/** Units of the table per job. */
interface SumUnits {
  readonly logWrites: number;
  readonly checkWrites: number;
  readonly checkReads: number;
}

const EPOCHS_PER_HOUR = 4;

/** @param moves - writes of its record that move counters. */
export function sumUnits(
  moves: number,
  { jobsPerMonth, counters, rollupBatch }: Pick<CostQuestion, 'jobsPerMonth' | 'counters' | 'rollupBatch'>,
): SumUnits {
  if (moves === 0 || counters === 0) return { logWrites: 0, checkWrites: 0, checkReads: 0 };
  const { SUM_ITEM_BYTES, SUM_LINE_BYTES, LOOKS_PER_EPOCH, BUSY_SUBJECTS, BUSY_HOURS_PER_MONTH } = assumed;
  const itemBytes = SUM_ITEM_BYTES + rollupBatch * SUM_LINE_BYTES;
  // In each epoch, its counters are looked at once for all jobs that moved them.
  const busyPerJob = (BUSY_SUBJECTS * BUSY_HOURS_PER_MONTH * EPOCHS_PER_HOUR) / Math.max(1, jobsPerMonth);
  const looked = Math.min(moves * counters, busyPerJob);
  return {
    logWrites: (moves / rollupBatch) * Math.ceil(itemBytes / 1024),
    // What is known of a subject is written when it changed: at the first look.
    checkWrites: looked,
    // The lines; the counter and what is known of its subject.
    checkReads: LOOKS_PER_EPOCH * (((moves / rollupBatch) * itemBytes) / 4096 + 2 * looked),
  };
}
