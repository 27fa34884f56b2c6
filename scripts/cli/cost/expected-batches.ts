import * as assumed from './assumptions.ts';
import type { JobBatches } from './job-units.ts';

const BATCH_MAX = 96;
const SETTLE_BATCH_MAX = 100;
const ROLLUP_BATCH_MAX = 200;

/**
 * Estimates batch sizes by the number of jobs: jobs of a small installation come one by one, each with its
 * own transaction. Jobs of one pipeline make larger batches than this.
 *
 * @param relays - each has its own batches.
 */
export function expectedBatches(jobsPerMonth: number, relays: number): JobBatches {
  const perSecond = jobsPerMonth / (assumed.BUSY_HOURS_PER_MONTH * 3_600);
  /** The first job of a batch, and those before it closes. */
  const together = (rate: number, seconds: number, max: number): number =>
    Math.min(max, Math.max(1, Math.round(1 + rate * seconds)));
  const perShard = perSecond / assumed.STREAM_SHARDS;
  return {
    batch: together(perSecond / relays, assumed.CALL_SECONDS, BATCH_MAX),
    settleBatch: together(perShard, assumed.SETTLE_WINDOW_SECONDS, SETTLE_BATCH_MAX),
    // Its hold and its end: two records of a job.
    rollupBatch: together(2 * perShard, assumed.ROLLUP_WINDOW_SECONDS, ROLLUP_BATCH_MAX),
  };
}
