/** What is written down is what the programs do today; the bench counts the rest of it, which takes longer. */
import { expect, test } from 'vitest';
import { type JobCosts, jobUnits, MEASURED_COSTS } from '../../../../scripts/cli/cost/units.ts';
import {
  measureDeskCosts,
  measureJobCosts,
  measureRecords,
  withBytesAsWritten,
} from '../../../../scripts/proof/bench/cost/measure-costs.ts';

const STALE = `measured-costs.json is not what is counted now: run ${MEASURED_COSTS.renewedBy} and commit it`;
const BATCHES = [1, 5];
const TOGETHER = [1, 4, 5];
const COUNTERS = 3;
const { batches, together, jobs, desk } = MEASURED_COSTS;

/** The part of what is written down that is counted here. */
function partOf({ byCounters: _, ...costs }: JobCosts): Omit<JobCosts, 'byCounters'> {
  const rows = BATCHES.map((batch) => batches.indexOf(batch));
  const columns = TOGETHER.map((size) => together.indexOf(size));
  const list = (values: readonly number[]) => rows.map((row) => values[row] ?? Number.NaN);
  const lists = (values: readonly (readonly number[])[]) =>
    rows.map((row) => columns.map((column) => values[row]?.[column] ?? Number.NaN));
  const { byBatch, byBatchAndTogether: both, perCounter } = costs;
  return {
    ...costs,
    byBatch: {
      hold: list(byBatch.hold),
      announced: list(byBatch.announced),
      dueIndex: list(byBatch.dueIndex),
    },
    byBatchAndTogether: {
      settle: lists(both.settle),
      ledgerReads: lists(both.ledgerReads),
      rollup: lists(both.rollup),
      estimates: lists(both.estimates),
      top: lists(both.top),
      rollupReads: lists(both.rollupReads),
    },
    perCounter: {
      hold: list(perCounter.hold),
      ledgerReads: list(perCounter.ledgerReads),
      settle: lists(perCounter.settle),
    },
  };
}

test.each(['admitted', 'rejected'] as const)(
  '%s jobs cost the table what is written down',
  async (outcome) => {
    const counted = await measureJobCosts(outcome, { batches: BATCHES, together: TOGETHER });
    expect(counted, STALE).toEqual(partOf(jobs[outcome]));
    const records = await measureRecords(outcome, COUNTERS);
    expect(records.recordBytes, STALE).toEqual(jobs[outcome].byCounters.recordBytes.slice(0, COUNTERS + 1));
    expect(records.inHistories, STALE).toEqual(jobs[outcome].byCounters.inHistories.slice(0, COUNTERS + 1));
  },
);

test('visits and runs cost the table what is written down', async () => {
  const [groups, parameters] = [
    [1, 100, 300],
    [0, 100],
  ];
  const counted = await measureDeskCosts({ groups, parameters });
  const written = desk.byGroups.filter((row) => groups.includes(row.groups));
  const byGroups = withBytesAsWritten(counted.byGroups, written);
  expect({ ...counted, byGroups }, STALE).toEqual({
    ...desk,
    byGroups: written,
    byParameters: desk.byParameters.filter((row) => parameters.includes(row.parameters)),
  });
});

test('a page with a word more on it costs what is written down; one with a tenth more, or a read more, does not', () => {
  const written = [{ groups: 1, visitReads: 20, visitBytes: 1000, parameterRunReads: 6 }];
  const off = (change: Partial<(typeof written)[number]>) =>
    withBytesAsWritten(
      [{ groups: 1, visitReads: 20, visitBytes: 1000, parameterRunReads: 6, ...change }],
      written,
    );
  expect(off({ visitBytes: 1040 })).toEqual(written);
  expect(off({ visitBytes: 960 })).toEqual(written);
  expect(off({ visitBytes: 1100 })).not.toEqual(written);
  expect(off({ visitReads: 21 })).not.toEqual(written);
  expect(off({ groups: 2 })).not.toEqual(written);
});

test('between two batches that were counted, a job costs something in between', () => {
  const hold = (batch: number) =>
    jobUnits('admitted', COUNTERS, { batch, settleBatch: 1, rollupBatch: 1 }).writeUnits.hold;
  // A record and its share of three counters, each as part of a transaction.
  expect(hold(4)).toBeCloseTo(2 + (3 * 2) / 4, 9);
  expect(hold(96)).toBeCloseTo(2 + (3 * 2) / 96, 6);
});
