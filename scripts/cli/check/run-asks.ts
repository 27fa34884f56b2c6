import { counterName } from '../../../policies/claim.ts';
import { isInFlight } from '../../../policies/units/unit.ts';
import type { LimitAsk } from '../evaluation/limit-ask.ts';
import type { JobCheck } from './job-check.ts';

/** What one run of the pipeline asks of one limit, if every job runs as long as it is estimated. */
export interface RunAsk extends LimitAsk {
  readonly jobs: number;
  /** What is given back at a job's end counts for the largest stage only: stages follow each other. */
  readonly perStage: boolean;
  /** More than the whole limit: some jobs cannot be admitted, however empty the counter is. */
  readonly exceeds: boolean;
}

/** In the order the jobs meet them. Jobs that are rejected ask for nothing. */
export function runAsks(checks: readonly JobCheck[]): readonly RunAsk[] {
  const byCounter = new Map<
    string,
    { readonly first: LimitAsk; readonly stages: Map<string, number>; jobs: number }
  >();
  for (const { job, asks, verdict } of checks) {
    if (verdict === 'rejected') continue;
    for (const ask of asks) {
      const name = counterName(ask.counter);
      const sum = byCounter.get(name) ?? { first: ask, stages: new Map<string, number>(), jobs: 0 };
      sum.stages.set(job.stage, (sum.stages.get(job.stage) ?? 0) + ask.asked);
      sum.jobs += 1;
      byCounter.set(name, sum);
    }
  }
  return [...byCounter.values()].map(({ first, stages, jobs }) => {
    const perStage = isInFlight(first.unit);
    const amounts = [...stages.values()];
    const asked = perStage ? Math.max(...amounts) : amounts.reduce((sum, each) => sum + each, 0);
    return { ...first, asked, jobs, perStage, exceeds: first.bound !== undefined && asked > first.bound };
  });
}
