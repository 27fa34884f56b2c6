import type { CounterKey } from '../../policies/claim.ts';
import { isPipelineCounter } from '../../policies/limits/grace.ts';
import { longestDays } from '../../policies/limits/period.ts';
import type { CounterWrite } from './store.ts';

/** What is counted nowhere is kept as long as what counts in a month. */
const SHORTEST_DAYS = 32;
/** In which people ask about a job, after its periods are over. */
const ASKING_DAYS = 90;
/** GitLab's longest job is a month: until it ends its pipeline may well start another. */
const PIPELINE_DAYS = 35;

const DAY_SECONDS = 24 * 3_600;

/**
 * When garbage collection may take an ended record or a correction entry, Unix seconds, as DynamoDB's TTL wants them:
 * 90 days after the longest period it counts in can still be open, because a rebuild recounts open periods from their
 * records. Undefined: never, for what counts in a limit that never starts anew.
 *
 * @param counted - where it counts; a claim that was given back no longer does.
 */
export function expiresAtSeconds(
  endedAtMs: number,
  counted: readonly { readonly counter: CounterKey }[],
): number | undefined {
  let days = SHORTEST_DAYS;
  for (const { counter } of counted) {
    if (!isPipelineCounter(counter)) days = Math.max(days, longestDays(counter.period));
  }
  if (!Number.isFinite(days)) return undefined;
  return Math.ceil(endedAtMs / 1000) + (days + ASKING_DAYS) * DAY_SECONDS;
}

/** Counters stay; those of pipelines go a while after their last job moved them. */
export const expiring = (write: CounterWrite, nowMs: number): CounterWrite =>
  isPipelineCounter(write.key)
    ? { ...write, expiresAtSeconds: Math.ceil(nowMs / 1000) + PIPELINE_DAYS * DAY_SECONDS }
    : write;
