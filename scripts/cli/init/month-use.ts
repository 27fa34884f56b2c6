import { quantile } from '../../local/random.ts';
import type { RanJob } from './read-month.ts';

/** Use in the span. */
export interface JobsUse {
  readonly jobs: number;
  readonly seconds: number;
  /** The most jobs at one time. */
  readonly peakJobs: number;
  /** 90th percentile of the duration. */
  readonly usualSeconds: number;
}

export function useOf(jobs: readonly RanJob[]): JobsUse {
  const lengths = jobs.map(lengthSeconds).sort((a, b) => a - b);
  return {
    jobs: jobs.length,
    seconds: Math.round(lengths.reduce((sum, each) => sum + each, 0)),
    peakJobs: peakOf(jobs),
    usualSeconds: jobs.length === 0 ? 0 : Math.ceil(quantile(lengths, 0.9)),
  };
}

/** The use of each group at one level of the tree: 1 is the top-level groups. A group's use has that of all below it. */
export function useByGroup(jobs: readonly RanJob[], level: number): ReadonlyMap<string, JobsUse> {
  const byPath = Map.groupBy(jobs, ({ path }) => groupAt(path, level));
  byPath.delete('');
  return new Map([...byPath].map(([path, own]) => [path, useOf(own)]));
}

/** `acme/payments/api` at level 1 is `acme`; empty where the project lies above that level. */
function groupAt(projectPath: string, level: number): string {
  const parts = projectPath.split('/');
  return parts.length > level ? parts.slice(0, level).join('/') : '';
}

const lengthSeconds = ({ startMs, endMs }: RanJob): number => Math.max(0, endMs - startMs) / 1000;

/** A job that ends when another starts does not overlap it. */
function peakOf(jobs: readonly RanJob[]): number {
  const events = jobs
    .filter(({ startMs, endMs }) => endMs > startMs)
    .flatMap(({ startMs, endMs }) => [
      { atMs: startMs, by: 1 },
      { atMs: endMs, by: -1 },
    ])
    .sort((a, b) => a.atMs - b.atMs || a.by - b.by);
  let [running, peak] = [0, 0];
  for (const { by } of events) {
    running += by;
    peak = Math.max(peak, running);
  }
  return peak;
}
