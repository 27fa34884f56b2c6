/** How the jobs of a made-up day end, and how long they are queued before. Pure. */
import type { RanOutcome } from '../../../policies/request/recorded.ts';
import { logNormal } from './draws.ts';

export interface DrawnEnd {
  readonly outcome: RanOutcome;
  /** How many runs of the same job were before it. */
  readonly retryCount: number;
  readonly queuedSeconds: number;
}

const FAILS_SHARE = 0.06;
const CANCELED_SHARE = 0.02;
/** The share of those that fail; and of their retries as well, once. */
const RETRIED_SHARE = 0.75;
const RETRIES_MAX = 2;
/** Most jobs find a runner at once, and some stand in a long queue. */
const QUEUED_MEDIAN_SECONDS = 18;
const QUEUED_SIGMA = 1.6;

/** A job that fails is followed by its retry, or by two. */
export function withEnds<Job extends object>(
  jobs: readonly Job[],
  random: () => number,
): readonly (Job & DrawnEnd)[] {
  const ended: (Job & DrawnEnd)[] = [];
  for (const job of jobs) {
    for (let retryCount = 0; retryCount <= RETRIES_MAX; retryCount += 1) {
      const outcome = outcomeOf(random());
      const queuedSeconds = Math.round(logNormal(QUEUED_MEDIAN_SECONDS, QUEUED_SIGMA, random));
      ended.push({ ...job, outcome, retryCount, queuedSeconds });
      if (outcome !== 'failed' || random() >= RETRIED_SHARE) break;
    }
  }
  return ended;
}

const outcomeOf = (drawn: number): RanOutcome =>
  drawn < FAILS_SHARE ? 'failed' : drawn < FAILS_SHARE + CANCELED_SHARE ? 'canceled' : 'success';
