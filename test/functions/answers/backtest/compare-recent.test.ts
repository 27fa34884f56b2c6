import { expect, test } from 'vitest';
import { compareRecent } from '../../../../functions/answers/backtest/compare-recent.ts';
import { JobSubjects } from '../../../../functions/answers/backtest/job-subjects.ts';
import type { JobRecord } from '../../../../functions/core/ledger/ledger.ts';
import { aDirectory, aPolicy, NOW_MS, someLimits } from '../../../policies/documents.ts';
import { someFacts } from '../../../support/ledger/asks.ts';

const POLICY = aPolicy({ rules: [{ id: 'starts', kind: 'window', mode: 'enforce' }] });
const starts = (amount: number) =>
  someLimits({ limits: [{ on: { group: 104 }, starts: amount, per: 'month' }] }, POLICY, aDirectory);

const aRecord = (jobId: number, over: Partial<JobRecord> = {}): JobRecord => ({
  jobId,
  state: 'HELD',
  generation: 1,
  rev: 1,
  facts: someFacts({ rootId: 100, groupId: 104, projectId: 1 }),
  claims: [],
  violations: [],
  shadow: [],
  answered: 'ledger',
  flagged: false,
  decidedAtMs: NOW_MS - 1_000_000 + jobId * 1_000,
  entries: 0,
  ...over,
});

function compare(records: readonly JobRecord[], over: Partial<Parameters<typeof compareRecent>[0]> = {}) {
  const byId = new Map(records.map((record) => [record.jobId, record]));
  return compareRecent({
    sinceMs: NOW_MS - 86_400_000,
    untilMs: NOW_MS,
    policy: POLICY,
    directory: aDirectory,
    before: starts(400),
    after: starts(100),
    beginAt: (fromMs) => fromMs,
    subjects: new JobSubjects(['group/101', 'group/104'], aDirectory),
    reads: {
      recentJobIds: async () => [records.length],
      readRecords: async (ids) => ids.map((id) => byId.get(id)),
      readCounters: async () => [],
      usedBefore: async () => 0,
    },
    bounds: {
      idsMax: 10_000,
      recordsMax: 10_000,
      readDeadlineMs: 1,
      replayDeadlineMs: 2,
      monotonicMs: () => 0,
    },
    ...over,
  });
}

const five = Array.from({ length: 500 }, (_, index) => aRecord(index + 1));

test('each edited subject has its figures, and all of them together count a job once', async () => {
  const compared = await compare(five);
  const figures = { jobs: 500, wouldFail: 400, wouldFailNow: 100, failed: 0, unasked: 0 };
  expect(compared).toMatchObject({ complete: true, all: figures, jobsRead: 500 });
  expect(compared.bySubject).toEqual(
    new Map([
      ['group/104', figures],
      ['group/101', figures],
    ]),
  );
});

test('a job that nobody asked about takes its room and is not judged', async () => {
  const records = five.map((record) =>
    record.jobId <= 50 ? { ...record, unchecked: 'unmetered' as const } : record,
  );
  const { all } = await compare(records);
  expect(all).toEqual({ jobs: 450, wouldFail: 400, wouldFailNow: 100, failed: 0, unasked: 50 });
});

test('a replay that takes too long tells the first of the days, and until when', async () => {
  let isRead = false;
  let looks = 0;
  const { complete, untilMs, all } = await compare(five, {
    beginAt: (fromMs) => {
      isRead = true;
      return fromMs;
    },
    bounds: {
      idsMax: 10_000,
      recordsMax: 10_000,
      readDeadlineMs: 1_000,
      replayDeadlineMs: 2_000,
      // One look for every 200 jobs: with the third the time is over.
      monotonicMs: () => {
        if (isRead) looks += 1;
        return looks < 3 ? 0 : 3_000;
      },
    },
  });
  expect(complete).toBe(false);
  expect(all.jobs).toBe(400);
  expect(untilMs).toBe(five[400]?.decidedAtMs);
});
