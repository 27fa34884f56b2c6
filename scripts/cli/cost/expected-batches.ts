import * as assumed from './assumptions.ts';
import type { JobBatches } from './job-units.ts';

const BATCH_MAX = 96;
const SETTLE_BATCH_MAX = 100;
const ROLLUP_BATCH_MAX = 200;

/**
 * How many jobs go together on average, by how many there are: a small fleet's come one by one, and each pays for a transaction of
 * its own. Jobs of one pipeline that start in the same moment make batches larger than this.
 *
 * @param relays - each has batches of its own.
 */
export function expectedBatches(jobsPerMonth: number, relays: number): JobBatches {
  const perSecond = jobsPerMonth / (assumed.BUSY_HOURS_PER_MONTH * 3_600);
  /** Whoever opens a batch, and those that come before it is closed. */
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
