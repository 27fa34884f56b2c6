/** What a month may be run with, over the same workload. */
import type { JobRecord } from '../../../functions/core/ledger/index.ts';
import {
  type Estimator,
  historyEstimator,
  timeoutEstimator,
  timeoutSeconds,
} from '../../../policies/estimate.ts';
import { NO_HISTORY, type ProjectHistory, withRuns } from '../../../policies/run-history.ts';

export const ESTIMATES = ['history', 'default', 'timeout'] as const;
/** `history`: p90 of the job's last runs. `default`: the policy's number. `timeout`: all a job may take. */
export type EstimateName = (typeof ESTIMATES)[number];

interface Learner {
  readonly estimator: Estimator;
  /** Each record as it is written, as the table's stream brings it to the rollup. */
  learn(record: JobRecord): void;
}

export function learnerOf(name: EstimateName): Learner {
  switch (name) {
    case 'history':
      return historyLearner();
    case 'default':
      return { estimator: timeoutEstimator, learn: () => {} };
    case 'timeout':
      return { estimator: { estimateSeconds: timeoutSeconds }, learn: () => {} };
  }
}

function historyLearner(): Learner {
  const histories = new Map<number, ProjectHistory>();
  const learned = new Set<number>();
  return {
    estimator: historyEstimator((projectId) => histories.get(projectId)),
    learn: ({ jobId, state, facts, durationSeconds, endedAtMs = 0 }) => {
      const { projectId, jobName, runnerClass } = facts;
      if (state !== 'SETTLED' || durationSeconds === undefined || learned.has(jobId)) return;
      if (projectId === undefined || jobName === undefined) return;
      learned.add(jobId);
      const run = { jobName, runnerClass, seconds: durationSeconds, endedAtMs };
      histories.set(projectId, withRuns(histories.get(projectId) ?? NO_HISTORY, [run]));
    },
  };
}
