import fc from 'fast-check';
import { expect, test } from 'vitest';
import { readRecentRecords } from '../../../../functions/answers/backtest/id-walk.ts';
import type { JobRecord } from '../../../../functions/core/ledger/ledger.ts';
import { someFacts } from '../../../support/ledger/asks.ts';

const aRecord = (jobId: number, decidedAtMs: number): JobRecord => ({
  jobId,
  state: 'HELD',
  generation: 1,
  rev: 1,
  facts: someFacts({}),
  claims: [],
  violations: [],
  shadow: [],
  answered: 'ledger',
  flagged: false,
  decidedAtMs,
  entries: 0,
});

/** Some ids are of jobs that never asked; a minute from job to job, as they are created. */
const books = fc.record({
  first: fc.integer({ min: 1, max: 5_000 }),
  gaps: fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1, maxLength: 300 }),
});
const recordsOf = ({ first, gaps }: { first: number; gaps: readonly number[] }): readonly JobRecord[] => {
  let jobId = first;
  return gaps.map((gap, index) => {
    jobId += gap;
    return aRecord(jobId, 1_000_000 + index * 60_000);
  });
};

function reading(records: readonly JobRecord[], known: readonly number[]) {
  const byId = new Map(records.map((record) => [record.jobId, record]));
  let clockMs = 0;
  const calls: number[] = [];
  return {
    calls,
    monotonicMs: () => clockMs,
    reads: {
      recentJobIds: async () => known,
      readRecords: async (jobIds: readonly number[]) => {
        calls.push(jobIds.length);
        clockMs += 10;
        return jobIds.map((jobId) => byId.get(jobId));
      },
    },
  };
}
const WIDE = { idsMax: 1_000_000, recordsMax: 1_000_000, deadlineMs: 1_000_000 };

test('from any job known, all there is is found, in the order of the decisions', async () => {
  await fc.assert(
    fc.asyncProperty(books, fc.nat(), async (book, pick) => {
      const records = recordsOf(book);
      const known = records[pick % records.length]?.jobId ?? 0;
      const { reads, monotonicMs } = reading(records, [known]);
      const found = await readRecentRecords(reads, 0, { ...WIDE, monotonicMs });
      expect(found.records.map(({ jobId }) => jobId)).toEqual(records.map(({ jobId }) => jobId));
      expect(found.fromMs).toBe(Number.NEGATIVE_INFINITY);
    }),
  );
});

test('however little may be read, what it says it has from an instant on is all there', async () => {
  await fc.assert(
    fc.asyncProperty(
      books,
      fc.integer({ min: 500, max: 6_000 }),
      fc.integer({ min: 1, max: 200 }),
      async (book, idsMax, deadlineMs) => {
        const records = recordsOf(book);
        const { reads, monotonicMs, calls } = reading(records, [records.at(-1)?.jobId ?? 0]);
        const found = await readRecentRecords(reads, 0, { ...WIDE, idsMax, deadlineMs, monotonicMs });
        const late = records.filter(({ decidedAtMs }) => decidedAtMs >= found.fromMs);
        const ids = new Set(found.records.map(({ jobId }) => jobId));
        expect(late.filter(({ jobId }) => !ids.has(jobId))).toEqual([]);
        // A last block may go beyond the bound, and no second one.
        expect(found.idsRead).toBeLessThan(idsMax + 500);
        expect(calls.length).toBeLessThanOrEqual(Math.ceil(deadlineMs / 10));
      },
    ),
  );
});

test('where the ids made a leap, what lies below it is found by an id that is known there', async () => {
  const old = Array.from({ length: 900 }, (_, index) => aRecord(1_000_000 + index, index * 60_000));
  const late = Array.from({ length: 700 }, (_, index) =>
    aRecord(25_000_000 + index, (2_000 + index) * 60_000),
  );
  const records = [...old, ...late];
  const read = async (known: readonly number[]) => {
    const { reads, monotonicMs } = reading(records, known);
    return readRecentRecords(reads, 0, { ...WIDE, monotonicMs });
  };
  expect((await read([25_000_000, 1_000_400])).records).toHaveLength(700 + 401);
  expect((await read([25_000_000, 1_000_899])).records).toHaveLength(1_600);
  expect((await read([25_000_000])).records).toHaveLength(700);
});
