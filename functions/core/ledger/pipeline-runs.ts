import { type CounterKey, counterName } from '../../../policies/claim.ts';
import type { HoldJob } from './job.ts';
import type { CounterMerge } from './merge.ts';
import type { KnownCounters } from './weighing.ts';

/**
 * Whether a job's pipeline has an admitted job, in the table or earlier in the same pack (the same transaction, so both
 * or none). Undefined: nobody looked.
 */
export function pipelineRuns(
  job: HoldJob,
  known: KnownCounters,
  merges: ReadonlyMap<string, CounterMerge>,
): boolean | undefined {
  const key = pipelineOf(job);
  if (key === undefined) return false;
  const name = counterName(key);
  const taken = merges.get(name)?.committed ?? 0;
  const seen = known.get(name);
  return seen === undefined ? (taken > 0 ? true : undefined) : seen.committed + taken > 0;
}

export const pipelineOf = ({ ask }: HoldJob): CounterKey | undefined =>
  ask.claims.find(({ grace }) => grace !== undefined)?.grace?.pipeline;
