/** How long jobs were queued before a runner took them, counted in buckets, because buckets add up and quantiles do not. */

/** Upper bounds, seconds; of the last there is none. Never reorder: the index is the name. */
export const QUEUE_BOUNDS_SECONDS = [10, 60, 300, 900, 3_600, Number.POSITIVE_INFINITY] as const;

export const QUEUE_BUCKETS = ['p0', 'p1', 'p2', 'p3', 'p4', 'p5'] as const;

/** The name of the bucket. */
export const queueBucket = (queuedSeconds: number): string =>
  `p${QUEUE_BOUNDS_SECONDS.findIndex((bound) => queuedSeconds <= bound)}`;
