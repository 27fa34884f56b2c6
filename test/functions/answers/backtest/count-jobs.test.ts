import { expect, test } from 'vitest';
import { comparisonTally } from '../../../../functions/answers/backtest/count-edit.ts';
import { countJobs } from '../../../../functions/answers/backtest/count-jobs.ts';
import { JobSubjects } from '../../../../functions/answers/backtest/replay-requests.ts';
import { aDirectory, aPolicy, NOW_MS, someLimits } from '../../../policies/documents.ts';
import { someFacts } from '../../../support/ledger/asks.ts';
import { aRecord } from '../../../support/ledger/rollup-bench.ts';

const POLICY = aPolicy({ rules: [{ id: 'starts', kind: 'window', mode: 'enforce' }] });

const limitsOf = (starts: number) =>
  someLimits({ limits: [{ on: { group: 104 }, starts, per: 'month' }] }, POLICY, aDirectory);

test('a job that nobody asked about takes its room and is not judged', async () => {
  const facts = someFacts({ rootId: 100, groupId: 104, projectId: 1 });
  const records = Array.from({ length: 500 }, (_, index) => ({
    ...aRecord({ jobId: index + 1, decidedAtMs: NOW_MS - 1_000_000 + index * 1_000, facts }),
    ...(index < 50 && { unchecked: 'unmetered' as const }),
  }));
  const byId = new Map(records.map((record) => [record.jobId, record]));
  const tally = comparisonTally(new JobSubjects(['group/104'], aDirectory));
  await countJobs({
    ...{ sinceMs: NOW_MS - 864_000_000, untilMs: NOW_MS, policy: POLICY, directory: aDirectory },
    ...{ before: limitsOf(400), after: limitsOf(100), from: undefined, onJob: tally.add },
    reads: {
      recentJobIds: async () => [...byId.keys()],
      readRecords: async (ids) => ids.map((id) => byId.get(id)),
    },
    bounds: { idsMax: 1_000_000, recordsMax: 1_000_000, deadlineMs: 1, monotonicMs: () => 0 },
  });
  expect(tally.figures().all).toEqual({
    jobs: 450,
    wouldFail: 400,
    wouldFailNow: 100,
    failed: 0,
    unasked: 50,
  });
});
