import type { GitLabJob } from '../../../functions/core/gitlab/gitlab.ts';
import { dynamoSweepCheckpoints } from '../../../functions/core/ledger/checkpoints.ts';
import { createLedger } from '../../../functions/core/ledger/create-ledger.ts';
import type { JobState } from '../../../functions/core/ledger/ledger.ts';
import { MemoryTable } from '../../../functions/core/store/memory-table.ts';
import type { SweepReport } from '../../../functions/sweep/run.ts';
import { newSweepMemory, type SweepDeps } from '../../../functions/sweep/run.ts';
import { sweep } from '../../../functions/sweep/sweep.ts';
import type { CounterKey } from '../../../policies/claim.ts';
import { anAsk, claim, counter, someFacts } from '../../support/ledger/asks.ts';
import { MemoryStore } from '../../support/ledger/memory-store.ts';
import { manualClock } from '../../support/ledger/test-clock.ts';
import { FakeGitLab } from './fake-gitlab.ts';

export const MINUTE_MS = 60_000;
/** After so long the search for bypass visits a runner again. */
export const VISIT_MS = 5 * MINUTE_MS;
const TIMEOUT_SECONDS = 3_600;
/** When a hold of this house is due, after it was made. */
export const DUE_MS = (TIMEOUT_SECONDS + 15 * 60) * 1000;

export interface Held {
  /** Told by the router. */
  readonly runnerId?: number;
  readonly projectId?: number | undefined;
}

/** Group 1 pays one micro-unit a second and has slots; a minute's estimate is held. */
export function house(over: Partial<SweepDeps> = {}) {
  const clock = manualClock();
  const gitlab = new FakeGitLab();
  const store = new MemoryStore({ instance: 'gitlab.example.com', clock });
  const ledger = createLedger({ store, clock });
  const charged: GitLabJob[] = [];
  const deps: SweepDeps = {
    gitlab,
    ledger,
    marks: dynamoSweepCheckpoints({ table: new MemoryTable(), instance: 'gitlab.example.com' }),
    chargeBypass: async (gitlabJobs) => {
      charged.push(...gitlabJobs);
      return gitlabJobs.map(() => 'bypass');
    },
    memory: newSweepMemory(),
    clock,
    chargeUnknown: 'nothing',
    ...over,
  };
  const gitlabJob = (jobId: number, more: Partial<GitLabJob> = {}): GitLabJob => ({
    ...{ jobId, projectId: 1, status: 'running', runnerId: 7, startedAtMs: clock.nowMs() },
    ...more,
  });
  const committed = async (key: CounterKey): Promise<number> =>
    (await ledger.readCounters([key]))[0]?.committed ?? -1;
  return {
    ...{ clock, gitlab, store, ledger, charged },
    sweep: (again: Partial<SweepDeps> = {}): Promise<SweepReport> => sweep({ ...deps, ...again }),
    hold: async (jobIds: readonly number[], held: Held = {}): Promise<void> => {
      const { runnerId, projectId } = { projectId: 1, ...held };
      const facts = someFacts({
        timeoutSeconds: TIMEOUT_SECONDS,
        estimateSeconds: 60,
        ...(projectId !== undefined && { projectId }),
        ...(runnerId !== undefined && { asked: { runnerId } }),
      });
      const claims = [
        claim('group/1', 60),
        claim('group/1', 1, undefined, { counter: counter('group/1', 'slots', 'now'), unit: 'jobs' }),
      ];
      for (let start = 0; start < jobIds.length; start += 50) {
        const asks = jobIds.slice(start, start + 50).map((jobId) => anAsk(jobId, claims, { facts }));
        await ledger.hold(asks, clock.monotonicMs() + 30_000);
      }
    },
    states: async (...jobIds: readonly number[]): Promise<readonly (JobState | undefined)[]> =>
      (await ledger.readRecords(jobIds)).map((record) => record?.state),
    spent: () => committed(counter('group/1')),
    slots: () => committed(counter('group/1', 'slots', 'now')),
    gitlabJob,
    finished: (jobId: number, durationSeconds: number, more: Partial<GitLabJob> = {}): GitLabJob =>
      gitlabJob(jobId, {
        ...{ status: 'success', durationSeconds, finishedAtMs: clock.nowMs() + durationSeconds * 1000 },
        ...more,
      }),
  };
}

export const range = (from: number, count: number): number[] =>
  Array.from({ length: count }, (_, index) => from + index);
