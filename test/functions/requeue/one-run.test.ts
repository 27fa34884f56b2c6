/** What one run takes on, on stand-ins: the ledger and GitLab always say yes. */
import { expect, test } from 'vitest';
import { silentLog } from '../../../functions/core/environment/index.ts';
import type { JobRecord } from '../../../functions/core/ledger/index.ts';
import type { RequeueEntry, RequeueList } from '../../../functions/core/requeue/index.ts';
import { type RequeueDeps, requeue } from '../../../functions/requeue/requeue.ts';
import { aPolicy, someLimits, using } from '../../policies/documents.ts';
import { someFacts } from '../../support/ledger/asks.ts';
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

test('no more are taken on than have room, beside those that a run before left in the middle', async () => {
  const { run, retried, reserved } = house([{}, {}, {}, { state: 'retrying' }], 1);
  expect(await run()).toEqual({ waiting: 2, retried: 2, refused: 0 });
  expect(retried).toEqual([1, 4]);
  // Job 3 needs what job 2 found full.
  expect(reserved).toEqual([1, 2, 4]);
});

test('a job that is to be asked about again later is asked about then, not before', async () => {
  const { run, clock, nowMs } = house([{ againAtMs: manualClock().nowMs() + 120_000 }]);
  clock.advance(119_999);
  expect(await run()).toEqual({ waiting: 0, retried: 0, refused: 0 });
  clock.advance(1);
  expect(clock.nowMs() - nowMs).toBe(120_000);
  expect(await run()).toMatchObject({ retried: 1 });
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

test('a list that is as it was is not written, and one of which an entry is over is, once', async () => {
  const waiting = house([{}], 0);
  expect(await waiting.run()).toEqual({ waiting: 1, retried: 0, refused: 0 });
  expect([waiting.writes(), waiting.ended]).toEqual([0, []]);
  const firstAtMs = waiting.nowMs - WITHIN_MS;
  const over = house([{ firstAtMs: firstAtMs - 1 }, { firstAtMs }], 0);
  await over.run();
  expect(over.entries().map(({ state }) => state)).toEqual(['over', 'waiting']);
  expect(over.writes()).toBe(1);
});

const MINUTE_MS = 60_000;
const recordOf = (jobId: number, over: Partial<JobRecord>): JobRecord => ({
  ...{ jobId, state: 'RESERVED', generation: 0, rev: 1, facts: someFacts(), claims: [], violations: [] },
  ...{ shadow: [], answered: 'unknown', flagged: false, decidedAtMs: 0, entries: 0 },
  ...over,
});

test('retried jobs are looked at until they were asked about, for twenty minutes', async () => {
  const nowMs = manualClock().nowMs();
  const retriedAt = (newJobId: number, retriedAtMs: number, askedAfterMs?: number) => ({
    ...{ state: 'retried' as const, newJobId, retriedAtMs },
    ...(askedAfterMs !== undefined && { askedAfterMs }),
  });
  const { run, looked, ended, entries, records } = house([
    retriedAt(901, nowMs),
    retriedAt(902, nowMs, 5),
    retriedAt(903, nowMs - 20 * MINUTE_MS + 1),
    retriedAt(904, nowMs - 20 * MINUTE_MS),
    { state: 'over' },
  ]);
  records.set(901, recordOf(901, { state: 'HELD', generation: 1, decidedAtMs: nowMs + 700 }));
  await run();
  expect([looked, ended]).toEqual([[901, 903], []]);
  expect(entries().map(({ askedAfterMs }) => askedAfterMs)).toEqual([
    700,
    5,
    undefined,
    undefined,
    undefined,
  ]);
});

test('what is kept for a retried job goes back once its time is over, and nothing else does', async () => {
  const nowMs = manualClock().nowMs();
  const { run, ended, records } = house(
    [901, 902, 903].map((newJobId) => ({ state: 'retried' as const, newJobId, retriedAtMs: nowMs })),
  );
  records.set(901, recordOf(901, { dueAtMs: nowMs }));
  records.set(902, recordOf(902, { dueAtMs: nowMs + 1 }));
  records.set(903, recordOf(903, { state: 'HELD', generation: 1, dueAtMs: nowMs }));
  await run();
  expect(ended).toEqual([[901]]);
});

test('a rejected job that this group did not agree for is not on its list', async () => {
  const { run, records, rejections, nowMs, entries } = house([]);
  rejections.push({ jobId: 51, atMs: nowMs }, { jobId: 52, atMs: nowMs });
  const wants = { code: 'CONCURRENCY_FULL', subject: 'group/101', limit: 'jobs-now', unit: 'jobs' } as const;
  const reason = { ...wants, subjectLabel: 'payments', limitAmount: 1, asked: 1, committed: 1, settled: 0 };
  for (const [jobId, groupIds] of [
    [51, [100, 101]],
    [52, [100, 102]],
  ] as const)
    records.set(
      jobId,
      recordOf(jobId, {
        ...{ state: 'REJECTED', generation: 1, answered: 'ledger', decidedAtMs: nowMs },
        facts: someFacts({ projectId: 1, rootId: 100, groupIds }),
        violations: [{ rule: 'slots', class: 'capacity', mode: 'enforce', reason }],
      }),
    );
  await run();
  expect(entries().map(({ jobId }) => jobId)).toEqual([51]);
});
