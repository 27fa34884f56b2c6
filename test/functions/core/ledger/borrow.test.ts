import { expect, test } from 'vitest';
import { createLedger } from '../../../../functions/core/ledger/create-ledger.ts';
import type { HoldRequest, WaitAsk } from '../../../../functions/core/ledger/ledger.ts';
import type { LedgerStore } from '../../../../functions/core/ledger/store.ts';
import { countingStore } from '../../../../scripts/proof/bench/counting-store.ts';
import { anAsk, wordOf } from '../../../support/ledger/asks.ts';
import { type CohortMember, cohortClaimsOf, cohortSet } from '../../../support/ledger/cohort-bench.ts';
import { MemoryStore } from '../../../support/ledger/memory-store.ts';
import { manualClock } from '../../../support/ledger/test-clock.ts';

const INSTANCE = 'gitlab.example.com';
const COHORT = { subject: 'cohort/ci', limit: 'jobs', period: 'now' };
const LENT = { ...COHORT, limit: 'jobs:lent' };
const WAIT: WaitAsk = { waitedMs: 0, last: false, behind: new Set() };

function house(...members: readonly CohortMember[]) {
  const clock = manualClock();
  const store = countingStore(new MemoryStore({ instance: INSTANCE, clock }), INSTANCE);
  const newLedger = () => createLedger({ store, clock, random: () => 0.5 });
  const ledger = newLedger();
  let set = cohortSet(members);
  const edit = (...edited: readonly CohortMember[]): void => {
    set = cohortSet(edited);
  };
  let jobs = 0;
  const asks = (group: number, count: number, over: Partial<HoldRequest> = {}): readonly HoldRequest[] =>
    Array.from({ length: count }, () => {
      jobs += 1;
      return anAsk(jobs, cohortClaimsOf(set, group, 1, over.wait && { waitMs: 20_000 }), over);
    });
  const hold = (all: readonly HoldRequest[], by = ledger) => by.hold(all, clock.monotonicMs() + 2_000);
  const words = async (group: number, count: number) => (await hold(asks(group, count))).map(wordOf);
  const end = (...ids: readonly number[]) =>
    ledger.release(ids.map((jobId) => ({ jobId, cause: 'canceled' })));
  return { clock, ledger, edit, newLedger, asks, hold, words, end, store, counts: store.counts };
}

const times = (count: number, word: string): readonly string[] => Array.from({ length: count }, () => word);

const KEEPS = { own: 2, borrow: 9, lend: 1 };
const LENDS = { own: 2, borrow: 9 };
test.each([
  ['first job of a group where all lend everything', [LENDS, LENDS], 1, 6],
  ['first job of a group that keeps one slot', [KEEPS, LENDS], 1, 8],
  ['third job of a group that keeps one slot', [KEEPS, LENDS], 3, 8],
  ['first job of a group next to one that keeps one slot', [LENDS, KEEPS], 1, 8],
] as const)('the %s writes what it must: %j, job %d, %d units', async (_what, members, jobs, units) => {
  const { words, counts } = house(...members);
  for (let job = 1; job < jobs; job += 1) await words(1, 1);
  const before = counts.tableUnits;
  await words(1, 1);
  // The record, the group and its counters of the cohort, each written twice by a transaction.
  expect(counts.tableUnits - before).toBe(units);
});

test('who wants its own back waits for running jobs at most: until it has it nobody borrows', async () => {
  const { words, hold, asks, end, clock } = house({ own: 1, borrow: 2 }, { own: 2, borrow: 0 });
  expect(await words(1, 3)).toEqual(times(3, 'admitted'));
  expect(await hold(asks(2, 1))).toMatchObject([
    { outcome: 'rejected', violations: [{ reason: { committed: 0, settled: 0, lentOut: true } }] },
  ]);
  await end(1);
  expect(await words(1, 1)).toEqual(['rejected']);
  expect(await words(2, 2)).toEqual(['admitted', 'rejected']);
  await end(2);
  expect(await words(1, 1)).toEqual(['rejected']);
  // Nobody wants it any more.
  await clock.sleep(120_000);
  expect(await words(1, 1)).toEqual(['admitted']);
});

test('a borrowed slot that is kept for a retry is not reclaimed, and what is its own is kept while others borrow', async () => {
  const { ledger, words, hold, asks, end, clock } = house({ own: 1, borrow: 2 }, { own: 2, borrow: 0 });
  const retry = async ([rejected, retried]: readonly HoldRequest[]): Promise<string> => {
    const { jobId, claims } = rejected as HoldRequest;
    const kept = await ledger.reserve({ jobId, claims, untilMs: clock.nowMs() + 60_000 });
    if (kept === 'reserved') await ledger.handOver(jobId, (retried as HoldRequest).jobId);
    return kept;
  };
  await words(1, 3);
  const borrowing = asks(1, 2);
  const wanting = asks(2, 2);
  expect((await hold(borrowing.slice(0, 1))).map(wordOf)).toEqual(['rejected']);
  await end(1);
  expect(await retry(borrowing)).toBe('reserved');
  expect((await hold(wanting.slice(0, 1))).map(wordOf)).toEqual(['rejected']);
  expect((await hold(borrowing.slice(1))).map(wordOf)).toEqual(['admitted']);
  expect(await retry(wanting)).toBe('full');
  await end(2);
  expect(await retry(wanting)).toBe('reserved');
  expect(await words(1, 1)).toEqual(['rejected']);
  expect((await hold(wanting.slice(1))).map(wordOf)).toEqual(['admitted']);
  expect(await ledger.readCounters([COHORT])).toMatchObject([{ committed: 3 }]);
});

test('a job that waits for what is its own reclaims it as well, and stands in no borrower’s line', async () => {
  const { ledger, hold, asks, words, end } = house({ own: 1, borrow: 2 }, { own: 2, borrow: 0 });
  await words(1, 3);
  const [waiting] = asks(2, 1, { wait: WAIT });
  const outcomes = await hold([waiting as HoldRequest, ...asks(1, 1, { wait: WAIT })]);
  expect(outcomes).toMatchObject([
    { outcome: 'waiting', counters: ['cohort/ci|jobs|now'] },
    { outcome: 'waiting', counters: ['group/1|jobs-now|now'] },
  ]);
  const [cohort] = await ledger.readCounters([COHORT]);
  expect(cohort).toMatchObject({ committed: 3, reclaimedUntilMs: expect.any(Number) });
  await end(1);
  expect(await words(1, 1)).toEqual(['rejected']);
  expect(
    (await hold([{ ...(waiting as HoldRequest), wait: { ...WAIT, waitedMs: 900 } }])).map(wordOf),
  ).toEqual(['admitted']);
});

test('what runs without having been asked takes of what is lent, and gives it back', async () => {
  const { ledger, words, asks, end, clock } = house({ own: 1, borrow: 2 }, { own: 2, borrow: 0, lend: 1 });
  const told = { answered: 'admitted', cause: 'deadline', answeredAtMs: clock.nowMs() } as const;
  await ledger.recordUnmetered(
    asks(2, 2).map((ask) => ({ ...ask, ...told })),
    clock.monotonicMs() + 2_000,
  );
  expect(await ledger.readCounters([LENT])).toMatchObject([{ committed: 2, unchecked: { unmetered: 2 } }]);
  expect(await words(1, 1)).toEqual(['rejected']);
  await end(1, 2);
  expect(await ledger.readCounters([LENT])).toMatchObject([{ committed: 0, unchecked: { unmetered: 0 } }]);
  await clock.sleep(120_000);
  expect(await words(1, 3)).toEqual(['admitted', 'admitted', 'rejected']);
});

test('what is reclaimed between the weighing of a job and its write is not borrowed', async () => {
  const { words, hold, asks, newLedger, store, clock } = house({ own: 1, borrow: 2 }, { own: 2, borrow: 0 });
  expect(await words(1, 2)).toEqual(times(2, 'admitted'));
  const wanting = asks(2, 2);
  let writes = 0;
  const transact: LedgerStore['transact'] = async (...args) => {
    writes += 1;
    if (writes === 2) {
      expect((await hold(wanting, newLedger())).map(wordOf)).toEqual(['admitted', 'rejected']);
      await newLedger().release([{ jobId: (wanting[0] as HoldRequest).jobId, cause: 'canceled' }]);
    }
    return store.transact(...args);
  };
  const overtaken = createLedger({ store: { ...store, transact }, clock, random: () => 0.5 });
  expect((await hold(asks(1, 1), overtaken)).map(wordOf)).toEqual(['rejected']);
  expect(writes).toBeGreaterThanOrEqual(2);
});

test('a borrower that finds the cohort full reclaims nothing, and waits for a job of its own group', async () => {
  const { words, hold, asks, end } = house({ own: 1, borrow: 9 }, { own: 2, borrow: 0 });
  await words(1, 3);
  expect(await hold(asks(1, 1, { wait: WAIT }))).toMatchObject([
    { outcome: 'waiting', counters: ['group/1|jobs-now|now'] },
  ]);
  expect(await words(1, 1)).toEqual(['rejected']);
  await end(1);
  expect(await words(1, 1)).toEqual(['admitted']);
});

test('a job of two groups of one cohort counts in it for both, and is rejected where one of them finds no room', async () => {
  const { ledger, words, hold, asks } = house({ own: 1, borrow: 2 }, { own: 2, borrow: 0 });
  await words(1, 2);
  const [[one], [other]] = [asks(1, 1), asks(2, 1)];
  const both = {
    ...(one as HoldRequest),
    claims: [...(other as HoldRequest).claims, ...(one as HoldRequest).claims],
  };
  expect((await hold([both])).map(wordOf)).toEqual(['rejected']);
  expect(await ledger.readCounters([COHORT])).toMatchObject([{ committed: 2 }]);
});
