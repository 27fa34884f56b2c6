/** What keeps room for a retried job, step by step: what it asks the table, and when it gives up. */
import { expect, test } from 'vitest';
import { knownCounter } from '../../../../functions/core/ledger/counter.ts';
import { createLedger } from '../../../../functions/core/ledger/create-ledger.ts';
import { newJob, SeenCounters } from '../../../../functions/core/ledger/hold-job.ts';
import type { HoldAsk, JobRecord } from '../../../../functions/core/ledger/ledger.ts';
import { MemoryStore } from '../../../../functions/core/ledger/memory-store.ts';
import { isRetryOf } from '../../../../functions/core/ledger/reservation.ts';
import { findReserved, handOver, reserve } from '../../../../functions/core/ledger/reserve.ts';
import type { LedgerStore } from '../../../../functions/core/ledger/store.ts';
import { LedgerError } from '../../../../functions/core/store/index.ts';
import { counterName } from '../../../../policies/claim.ts';
import { countingStore } from '../../../../scripts/proof/bench/counting-store.ts';
import { anAsk, claim, counter, someFacts } from '../../../support/ledger/asks.ts';
import { manualClock } from '../../../support/ledger/test-clock.ts';

const INSTANCE = 'gitlab.example.com';
const SLOTS = counter('group/1', 'jobs-now', 'now');
const DEADLINE_MS = 2_000;

const asking = (jobId: number, jobName: string): HoldAsk =>
  anAsk(jobId, [claim('group/1', 1, 1, { counter: SLOTS, unit: 'jobs' })], {
    facts: someFacts({ projectId: 7, pipelineId: 70, jobName }),
  });

/** Job 1 took the only slot and ended; job 2 was rejected for it. */
async function house(over: Partial<LedgerStore> = {}) {
  const clock = manualClock();
  const memory = new MemoryStore({ instance: INSTANCE, clock });
  const counts = { transactions: 0, reads: 0 };
  const transact: LedgerStore['transact'] = (...args) => {
    counts.transactions += 1;
    return (over.transact ?? memory.transact.bind(memory))(...args);
  };
  const readRecords: LedgerStore['readRecords'] = (...args) => {
    counts.reads += 1;
    return memory.readRecords(...args);
  };
  const ledger = createLedger({ store: memory, clock, random: () => 0 });
  await ledger.hold([asking(1, 'build'), asking(2, 'test')], clock.monotonicMs() + DEADLINE_MS);
  await ledger.release([{ jobId: 1, cause: 'canceled' }]);
  const store: LedgerStore = { ...countingStore(memory, INSTANCE), transact, readRecords };
  const deps = {
    ...{ store, clock, random: () => 0, newToken: () => crypto.randomUUID() },
    lastSeen: new SeenCounters(),
  };
  const wanting = (amount = 1) => ({
    ...{ jobId: 2, claims: [claim('group/1', amount, 1, { counter: SLOTS, unit: 'jobs' })] },
    untilMs: clock.nowMs() + 180_000,
  });
  const known = async () => {
    const [seen] = await ledger.readCounters([SLOTS]);
    return new Map([[counterName(SLOTS), knownCounter(seen, clock.nowMs())]]);
  };
  const recordOf = async (jobId: number): Promise<JobRecord> => {
    const record = await ledger.readRecord(jobId);
    if (record === undefined) throw new Error(`job ${jobId} has no record`);
    return record;
  };
  return { clock, ledger, deps, counts, wanting, known, recordOf };
}

/** Somebody else is always at the same record. */
const rival: LedgerStore['transact'] = async (writes) => ({
  outcome: 'refused',
  refusals: writes.map((_, at) => (at === 0 ? { kind: 'record' } : undefined)),
});

test('a record that is another at each try is given up after six of them', async () => {
  const { deps, counts, wanting, ledger } = await house({ transact: rival });
  expect(await reserve(wanting(), DEADLINE_MS, deps)).toBe('undecided');
  expect(counts).toEqual({ transactions: 6, reads: 6 });
  await ledger.reserve(wanting());
  expect(await handOver(2, 3, DEADLINE_MS, deps)).toEqual({ outcome: 'undecided' });
  expect(counts).toEqual({ transactions: 12, reads: 12 });
});

test('with the time of one transaction left nothing is read any more', async () => {
  const { deps, counts, wanting } = await house();
  expect(await reserve(wanting(), 150, deps)).toBe('undecided');
  expect(counts).toEqual({ transactions: 0, reads: 0 });
  expect(await reserve(wanting(), 151, deps)).toBe('reserved');
});

test.each(['readRecords', 'readCounters'] as const)(
  'a reservation is undecided while the table does not answer %s',
  async (read) => {
    const { deps, wanting, recordOf } = await house();
    const silent = () => Promise.reject(new LedgerError('ledger_unavailable', 'silent'));
    const store = { ...deps.store, [read]: silent };
    expect(await reserve(wanting(), DEADLINE_MS, { ...deps, store })).toBe('undecided');
    expect((await recordOf(2)).dueAtMs).toBeUndefined();
  },
);

test('who wants nothing of a counter keeps nothing', async () => {
  const { deps, wanting, recordOf } = await house();
  expect(await reserve(wanting(0), DEADLINE_MS, deps)).toBe('unchanged');
  expect((await recordOf(2)).dueAtMs).toBeUndefined();
});

test('whoever hands over hears of the new job’s record as it stands: the one it made, or the one there was', async () => {
  const { deps, ledger, clock, wanting } = await house();
  await ledger.reserve(wanting());
  expect(await handOver(2, 3, DEADLINE_MS, deps)).toMatchObject({
    outcome: 'applied',
    record: { jobId: 3, state: 'RESERVED' },
  });
  expect(await handOver(2, 3, DEADLINE_MS, deps)).toMatchObject({
    outcome: 'unchanged',
    record: { jobId: 3, state: 'RESERVED' },
  });
  await ledger.hold([asking(3, 'test')], clock.monotonicMs() + DEADLINE_MS);
  expect(await handOver(9, 3, DEADLINE_MS, deps)).toMatchObject({
    outcome: 'unknown',
    record: { jobId: 3, state: 'HELD' },
  });
});

test('what is kept for a job is found by its note, once, and never for a job that has a record', async () => {
  const { deps, counts, ledger, wanting, known } = await house();
  await ledger.reserve(wanting());
  const seen = await known();
  const stranger = newJob(asking(10, 'lint'));
  await findReserved([stranger], seen, DEADLINE_MS, deps);
  expect([counts.reads, stranger.sought]).toEqual([1, true]);
  await findReserved([stranger], seen, DEADLINE_MS, deps);
  expect(counts.reads).toBe(1);

  const job = newJob(asking(3, 'test'));
  await findReserved([job], seen, DEADLINE_MS, deps);
  expect(job).toMatchObject({ asked: true, prior: { jobId: 3, state: 'RESERVED' } });
  const before = counts.reads;
  job.sought = false;
  await findReserved([job], seen, DEADLINE_MS, deps);
  expect(counts.reads).toBe(before);
});

test('a retry is the same job of the same pipeline, later, and room is kept for the one that was rejected', async () => {
  const { ledger, wanting, recordOf } = await house();
  const rejected = await recordOf(2);
  expect(isRetryOf(rejected, asking(3, 'test'))).toBe(false);
  await ledger.reserve(wanting());
  const kept = await recordOf(2);
  expect(isRetryOf(kept, asking(3, 'test'))).toBe(true);
  expect(isRetryOf(kept, asking(3, 'lint'))).toBe(false);
  for (const elsewhere of [{ projectId: 8 }, { pipelineId: 71 }]) {
    const { facts, ...ask } = asking(3, 'test');
    expect(isRetryOf(kept, { ...ask, facts: { ...facts, ...elsewhere } })).toBe(false);
  }
  for (const jobId of [1, 2]) expect(isRetryOf(kept, asking(jobId, 'test'))).toBe(false);
  await ledger.handOver(2, 3);
  expect(isRetryOf(await recordOf(3), asking(4, 'test'))).toBe(false);
  expect(isRetryOf(undefined, asking(3, 'test'))).toBe(false);
});
