/** A count in pages comes to what one pass over all records comes to, wherever the pages end and however late jobs were decided. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  type ComparedJobs,
  compareAll,
  comparisonTally,
} from '../../../../functions/answers/backtest/count-edit.ts';
import { type CountState, countJobs } from '../../../../functions/answers/backtest/count-jobs.ts';
import { JobSubjects } from '../../../../functions/answers/backtest/replay-requests.ts';
import type { JobRecord } from '../../../../functions/core/ledger/ledger.ts';
import type { LedgerStore } from '../../../../functions/core/ledger/store.ts';
import { aDirectory, aPolicy, NOW_MS, someLimits } from '../../../policies/documents.ts';
import { someFacts } from '../../../support/ledger/asks.ts';
import { propertyRuns } from '../../../support/property-runs.ts';

const POLICY = aPolicy({
  rules: [
    { id: 'starts', kind: 'window', mode: 'enforce' },
    { id: 'slots', kind: 'concurrency', mode: 'enforce' },
    { id: 'budgets', kind: 'budget', mode: 'enforce' },
  ],
});
const DAY_MS = 86_400_000;
const SINCE_MS = NOW_MS - 10 * DAY_MS;

interface Amounts {
  readonly starts: number;
  readonly hourly: number;
  readonly jobs: number;
}

const limitsOf = ({ starts, hourly, jobs }: Amounts) =>
  someLimits(
    {
      limits: [
        { on: { group: 104 }, starts, per: 'month' },
        { on: { group: 104 }, starts: hourly, per: 'hour' },
        { on: { group: 104 }, jobs, wait: '60s' },
      ],
    },
    POLICY,
    aDirectory,
  );

const aRecord = (jobId: number, decidedAtMs: number, over: Partial<JobRecord> = {}): JobRecord => ({
  ...{ jobId, state: 'HELD', generation: 1, rev: 1, entries: 0, answered: 'ledger', flagged: false },
  ...{ claims: [], violations: [], shadow: [], decidedAtMs },
  facts: someFacts({ rootId: 100, groupId: 104, projectId: 1 }),
  ...over,
});

const reading = (records: readonly JobRecord[]) => {
  const byId = new Map(records.map((record) => [record.jobId, record]));
  let asked = 0;
  return {
    asked: () => asked,
    reads: {
      recentJobIds: async () => records.map(({ jobId }) => jobId),
      readRecords: async (ids: readonly number[]) => {
        asked += 1;
        return ids.map((id) => byId.get(id));
      },
    },
  };
};

interface Counting {
  readonly before: Amounts;
  readonly after: Amounts;
}

const edit = ({ before, after }: Counting) => ({
  ...{ sinceMs: SINCE_MS, untilMs: NOW_MS, policy: POLICY, directory: aDirectory },
  ...{ before: limitsOf(before), after: limitsOf(after) },
});
const subjects = new JobSubjects(['group/101', 'group/104'], aDirectory);
const WIDE = { idsMax: 1_000_000, recordsMax: 1_000_000, deadlineMs: 1, monotonicMs: () => 0 };

/** As requests do: state and figures go through JSON between two of them. */
async function inPages(records: readonly JobRecord[], counting: Counting, bounds: (page: number) => object) {
  const { reads, asked } = reading(records);
  let kept: string | undefined;
  const days: number[] = [];
  for (let page = 0; page < 1_000; page += 1) {
    const from = kept === undefined ? undefined : (JSON.parse(kept) as [CountState, ComparedJobs]);
    const tally = comparisonTally(subjects, from?.[1]);
    const { next, jobsRead, countedToMs } = await countJobs({
      ...{ ...edit(counting), reads, from: from?.[0], onJob: tally.add },
      bounds: { ...WIDE, ...bounds(page) },
    });
    days.push(countedToMs);
    if (next === undefined) return { ...tally.figures(), jobsRead, pages: page + 1, days, reads: asked() };
    kept = JSON.stringify([next, tally.figures()]);
  }
  throw new Error('it never ends');
}

async function inOnePass(records: readonly JobRecord[], counting: Counting) {
  const tally = comparisonTally(subjects);
  const store = {
    scan: async function* () {
      for (const record of records) yield { kind: 'record', record };
    },
    readRecords: async (ids: readonly number[]) => ids.map((id) => records.find(({ jobId }) => jobId === id)),
  } as unknown as LedgerStore;
  const { jobsRead } = await compareAll(store)({ ...edit(counting), onJob: tally.add });
  return { ...tally.figures(), jobsRead };
}

/** Most jobs are decided as they are created, some hours or days later: they were played by hand. */
const lives = fc.array(
  fc.record({
    gap: fc.oneof(
      { weight: 5, arbitrary: fc.integer({ min: 1, max: 60 }) },
      fc.integer({ min: 300, max: 900 }),
    ),
    minutes: fc.integer({ min: 0, max: 400 }),
    lateMinutes: fc.oneof({ weight: 5, arbitrary: fc.constant(0) }, fc.integer({ min: 1, max: 6_000 })),
    ranSeconds: fc.option(fc.integer({ min: 0, max: 40_000 }), { nil: undefined }),
    unchecked: fc.constantFrom(undefined, undefined, undefined, 'unmetered', 'bypass'),
  }),
  { minLength: 1, maxLength: 120 },
);

type Lives = typeof lives extends fc.Arbitrary<infer Some> ? Some : never;

function recordsOf(all: Lives, daysBack: number) {
  let jobId = 1;
  let createdMs = NOW_MS - daysBack * DAY_MS;
  return all.flatMap(({ gap, minutes, lateMinutes, ranSeconds, unchecked }) => {
    jobId += gap;
    createdMs += minutes * 60_000;
    const decidedAtMs = createdMs + lateMinutes * 60_000;
    if (decidedAtMs >= NOW_MS) return [];
    const isOld = decidedAtMs < NOW_MS - DAY_MS;
    const over = ranSeconds === undefined && !isOld ? {} : ended(decidedAtMs, ranSeconds ?? 0);
    return [aRecord(jobId, decidedAtMs, { ...over, ...(unchecked !== undefined && { unchecked }) })];
  });
}

const ended = (decidedAtMs: number, ranSeconds: number): Partial<JobRecord> => ({
  state: 'SETTLED',
  durationSeconds: ranSeconds,
  endedAtMs: decidedAtMs + ranSeconds * 1_000,
});

const amounts = fc.record({
  starts: fc.integer({ min: 0, max: 120 }),
  hourly: fc.integer({ min: 1, max: 4 }),
  jobs: fc.integer({ min: 1, max: 6 }),
});

test('pages of any size come to the figures of one pass', async () => {
  let most = 0;
  await fc.assert(
    fc.asyncProperty(
      lives,
      fc.record({ before: amounts, after: amounts }),
      fc.infiniteStream(fc.integer({ min: 1, max: 8 })),
      // From within the month that was open on the first day, or from before it.
      fc.constantFrom(20, 40),
      async (all, counting, sizes, daysBack) => {
        const records = recordsOf(all, daysBack);
        fc.pre(records.length > 0);
        const {
          pages,
          days,
          reads: _,
          ...paged
        } = await inPages(records, counting, () => {
          // Each look at the clock takes a while.
          let looks = 0;
          return { deadlineMs: sizes.next().value, monotonicMs: () => looks++ };
        });
        most = Math.max(most, pages);
        const whole = await inPages(records, counting, () => ({}));
        expect({ ...whole, ...paged }).toEqual(whole);
        if (daysBack === 20) expect(paged).toEqual(await inOnePass(records, counting));
        expect(days).toEqual(days.toSorted((a, b) => a - b));
        expect(days.at(-1)).toBe(NOW_MS);
      },
    ),
    { numRuns: propertyRuns(100) },
  );
  expect(most, 'counts took several pages').toBeGreaterThan(1);
});

test('a job that nobody asked about takes its room and is not judged', async () => {
  const records = Array.from({ length: 500 }, (_, index) =>
    aRecord(index + 1, NOW_MS - 1_000_000 + index * 1_000, index < 50 ? { unchecked: 'unmetered' } : {}),
  );
  const counting = {
    before: { starts: 400, hourly: 1_000, jobs: 1_000 },
    after: { starts: 100, hourly: 1_000, jobs: 1_000 },
  };
  const { all } = await inPages(records, counting, () => ({}));
  expect(all).toEqual({ jobs: 450, wouldFail: 400, wouldFailNow: 100, failed: 0, unasked: 50 });
});
