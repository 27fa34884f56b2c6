/** What one run takes on, on stand-ins: the ledger and GitLab always say yes. */
import { expect, test } from 'vitest';
import { silentLog } from '../../../functions/core/environment/environment.ts';
import type { JobRecord } from '../../../functions/core/ledger/ledger.ts';
import type { RequeueEntry, RequeueList } from '../../../functions/core/requeue-list.ts';
import { type RequeueDeps, requeue } from '../../../functions/requeue/requeue.ts';
import { aPolicy, someLimits, using } from '../../policies/documents.ts';
import { manualClock } from '../../support/ledger/test-clock.ts';

const WITHIN_MS = 3_600_000;

function house(entries: readonly Partial<RequeueEntry>[], room = 100) {
  const clock = manualClock();
  const nowMs = clock.nowMs();
  let list: RequeueList = {
    ...{ groupId: 101, rev: 1 },
    entries: entries.map((entry, at) => ({
      ...{ jobId: at + 1, projectId: 1, root: 100, rejectedAtMs: nowMs, firstAtMs: nowMs, retries: 0 },
      state: 'waiting',
      ...entry,
    })),
  };
  const retried: number[] = [];
  const reserved: number[] = [];
  const looked: number[] = [];
  const ended: (readonly number[])[] = [];
  const records = new Map<number, JobRecord>();
  let writes = 0;
  const rejections: { readonly jobId: number; readonly atMs: number }[] = [];
  const deps: RequeueDeps = {
    agreed: [{ groupId: 101, retries: 2, withinSeconds: WITHIN_MS / 1000, priority: 0 }],
    lists: {
      read: async () => list,
      write: async (written) => {
        writes += 1;
        list = { ...written, rev: written.rev + 1 };
        return list;
      },
    },
    usage: { readRejections: async () => [{ subject: 'group/101', jobs: rejections }] as never },
    ledger: {
      readRecords: async (jobIds) => {
        looked.push(...jobIds);
        return jobIds.map((jobId) => records.get(jobId));
      },
      reserve: async ({ jobId }) => {
        reserved.push(jobId);
        const stands = list.entries.some((entry) => entry.jobId === jobId && entry.state === 'retrying');
        return stands || retried.length < room ? 'reserved' : 'full';
      },
      handOver: async () => 'applied',
      endReservations: async (jobIds) => {
        ended.push(jobIds);
        return [];
      },
    },
    rulesFor: async () => ({ directory: undefined, ...using(aPolicy(), someLimits({})) }),
    retry: async (_groupId, _projectId, jobId) => {
      retried.push(jobId);
      return { outcome: 'retried', newJobId: jobId + 1_000 };
    },
    ...{ clock, log: silentLog },
  };
  return {
    ...{ clock, nowMs, retried, reserved, looked, ended, records, rejections },
    run: () => requeue(deps),
    entries: () => list.entries,
    writes: () => writes,
  };
}

test('a run retries twelve jobs, and the others wait for the next', async () => {
  const { run, retried } = house(Array.from({ length: 14 }, () => ({})));
  expect(await run()).toEqual({ waiting: 2, retried: 12, refused: 0 });
  expect(await run()).toEqual({ waiting: 0, retried: 2, refused: 0 });
  expect(retried).toHaveLength(14);
});

test('a rejection that is as old as the group allows is looked at, an older one is not, and none twice', async () => {
  const { run, rejections, looked, nowMs } = house([{ state: 'over' }]);
  rejections.push(
    { jobId: 1, atMs: nowMs },
    { jobId: 51, atMs: nowMs - WITHIN_MS },
    { jobId: 52, atMs: nowMs - WITHIN_MS - 1 },
  );
  await run();
  expect(looked).toEqual([51]);
});
