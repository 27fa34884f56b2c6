import { BATCH_BYTES_MAX, REQUESTS_MAX } from '../../functions/core/contract/admissions.ts';
import { type BatchJob, latestDeadlineMs } from './batch-job.ts';
import type { FairQueue } from './fair-queue.ts';

/** The function starts no transaction with less left, so sending would only cost. */
export const SEND_MS_MIN = 150;

export interface TakenBatch {
  readonly jobs: readonly BatchJob[];
  /** Too late to be sent: for the fallback. */
  readonly expired: readonly BatchJob[];
}

/** Takes the next batch of a root: what is in time, in fair order, within the contract's count and bytes. */
export function takeBatch(queue: FairQueue, root: string, nowMs: number): TakenBatch {
  const jobs: BatchJob[] = [];
  const expired: BatchJob[] = [];
  let bytes = 0;
  while (jobs.length < REQUESTS_MAX) {
    const next = queue.first(root);
    if (next === undefined) break;
    const inTime = latestDeadlineMs(next) - nowMs >= SEND_MS_MIN;
    // One job always fits, however large: what may not travel at all is refused before the queue.
    if (inTime && jobs.length > 0 && bytes + next.bytes > BATCH_BYTES_MAX) break;
    queue.shift(root);
    if (inTime) {
      jobs.push(next);
      bytes += next.bytes;
    } else {
      expired.push(next);
    }
  }
  return { jobs, expired };
}
