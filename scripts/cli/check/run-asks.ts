import { counterName } from '../../../policies/claim.ts';
import { isInFlight } from '../../../policies/units/unit.ts';
import type { LimitAsk } from '../evaluation/limit-ask.ts';
import type { JobCheck } from './job-check.ts';

/** Claims of one run on one limit, by estimated durations. */
export interface RunAsk extends LimitAsk {
  readonly jobs: number;
  /** Returned amounts count for the largest stage only, because stages run in sequence. */
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
