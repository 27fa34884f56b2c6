import type { Log } from '../../../functions/core/environment/environment.ts';
import type { GitLabJob } from '../../../functions/core/gitlab/gitlab.ts';
import { type HintDeps, hintText } from '../../../functions/core/job-ends/webhook-hints.ts';
import { createLedger } from '../../../functions/core/ledger/create-ledger.ts';
import type { Ledger } from '../../../functions/core/ledger/ledger.ts';
import { flowRules } from '../flow/flow.ts';
import type { EndDeps } from './end-jobs.ts';
import { MemoryStore, type MemoryStoreOptions } from './memory-store.ts';
import { type TestClock, testClock } from './test-clock.ts';

export const INSTANCE = 'gitlab.example.com';
/** 21 November 2026, 11:00, an hour before the test clock's noon. */
export const STARTED_MS = Date.UTC(2026, 10, 21, 11);

/** A job of project 1001 that GitLab has just created. */
export const aGitLabJob = (jobId: number, over: Partial<GitLabJob> = {}): GitLabJob => ({
  jobId,
  projectId: 1001,
  status: 'success',
  projectPath: 'acme/payments/checkout',
  jobName: 'unit',
  pipelineId: 5000,
  userId: 7,
  ref: 'main',
  createdAtMs: STARTED_MS - 5_000,
  ...over,
});

/** It ran this long; unless told otherwise to a good end. */
export const ranFor = (jobId: number, seconds: number, over: Partial<GitLabJob> = {}): GitLabJob =>
  aGitLabJob(jobId, {
    runnerId: 12,
    startedAtMs: STARTED_MS,
    finishedAtMs: STARTED_MS + seconds * 1000,
    durationSeconds: seconds,
    ...over,
  });

/** What the webhook of group 100 reports of a job. */
export const hintOf = (gitlabJob: GitLabJob): string => hintText({ groupId: 100, gitlabJob });

export interface Books {
  readonly store: MemoryStore;
  readonly ledger: Ledger;
  readonly clock: TestClock;
  readonly deps: EndDeps & HintDeps;
  /** JSON, one a line. */
  readonly lines: string[];
  /** What the job is charged, by unit, corrections included. */
  charged(jobId: number): Promise<Readonly<Record<string, number>>>;
}

/** A ledger of its own, with 1 000 EUR a month for acme at 0.10 a minute. */
export function books(over: Partial<MemoryStoreOptions> = {}): Books {
  const clock = testClock();
  const store = new MemoryStore({ instance: INSTANCE, clock, ...over });
  const ledger = createLedger({ store, clock });
  const rules = flowRules([
    { on: { group: 100 }, money: 1_000, per: 'month' },
    { on: { group: 101 }, jobs: 1 },
  ]);
  const lines: string[] = [];
  const note = (message: string, fields?: object): void =>
    void lines.push(JSON.stringify({ message, ...fields }));
  const log: Log = { info: note, warn: note, error: note };
  return {
    store,
    ledger,
    clock,
    lines,
    deps: { ledger, currentRules: async () => rules, directoryFor: async () => rules.directory, clock, log },
    charged: async (jobId) => {
      const record = await ledger.readRecord(jobId);
      const sums: Record<string, number> = {};
      for (const { unit, counted, corrected } of record?.claims ?? []) {
        sums[unit] = (sums[unit] ?? 0) + counted + corrected;
      }
      return sums;
    },
  };
}
