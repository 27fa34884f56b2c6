/**
 * One batch in flight per root keeps its counters free of conflicts, and what queues meanwhile makes the next batch
 * large. But one cold start or hung connection must not stall a company: after this long a second batch may start.
 */
export const SECOND_BATCH_MS = 250;

export type BatchStart =
  | { readonly when: 'now' }
  | { readonly when: 'later'; readonly afterMs: number }
  /** Two are out: wait for one to end. */
  | { readonly when: 'batch_ends' };

/** Whether a root may start a batch, from when its batches in flight were started (monotonic ms). */
export function batchStart(startedAtMs: readonly number[], nowMs: number): BatchStart {
  const [first, second] = startedAtMs;
  if (first === undefined) return { when: 'now' };
  if (second !== undefined) return { when: 'batch_ends' };
  const afterMs = first + SECOND_BATCH_MS - nowMs;
  return afterMs <= 0 ? { when: 'now' } : { when: 'later', afterMs };
}
