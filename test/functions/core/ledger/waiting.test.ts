import { expect, test } from 'vitest';
import { createLedger } from '../../../../functions/core/ledger/create-ledger.ts';
import type { HoldOutcome, HoldRequest, WaitAsk } from '../../../../functions/core/ledger/ledger.ts';
import { LedgerError } from '../../../../functions/core/store/table-failure.ts';
import { counterName, type LimitClaim } from '../../../../policies/claim.ts';
import { countingStore } from '../../../../scripts/proof/bench/counting-store.ts';
import { anAsk, blocked, claim, counter, wordOf } from '../../../support/ledger/asks.ts';
import { MemoryStore } from '../../../support/ledger/memory-store.ts';
import { manualClock } from '../../../support/ledger/test-clock.ts';

const INSTANCE = 'gitlab.example.com';
const SLOTS = counter('group/1', 'jobs-now', 'now');
const LINE = counterName(SLOTS);
const WAIT: WaitAsk = { waitedMs: 0, last: false, behind: new Set() };

const slots = (bound: number, over: Partial<LimitClaim> = {}): LimitClaim =>
  claim('group/1', 1, bound, { counter: SLOTS, unit: 'jobs', waitMs: 20_000, ...over });

function house() {
  const clock = manualClock();
  const store = countingStore(new MemoryStore({ instance: INSTANCE, clock }), INSTANCE);
  const newLedger = () => createLedger({ store, clock, random: () => 0.5 });
  const ledger = newLedger();
  const hold = (...asks: HoldRequest[]): Promise<readonly HoldOutcome[]> =>
    ledger.hold(asks, clock.monotonicMs() + 2_000);
  return { clock, ledger, newLedger, hold, store, counts: store.counts };
}

/** A job that may wait, for one slot of `bound`. */
const waiter = (
  jobId: number,
  bound = 1,
  wait: Partial<WaitAsk> = {},
  claims = [slots(bound)],
): HoldRequest => anAsk(jobId, claims, { wait: { ...WAIT, ...wait } });

test('what only a limit that waits refuses waits: nothing is written, and it is admitted under its first generation', async () => {
  const { hold, ledger } = house();
  expect(await hold(waiter(1), waiter(2))).toMatchObject([
    { outcome: 'admitted' },
    {
      outcome: 'waiting',
      leftMs: 20_000,
      counters: [LINE],
      violations: [{ reason: { limit: 'jobs-now', committed: 1 } }],
    },
  ]);
  expect(await ledger.readRecord(2)).toBeUndefined();
  expect(await ledger.readCounters([SLOTS])).toMatchObject([{ committed: 1 }]);

  await ledger.release([{ jobId: 1, cause: 'canceled' }]);
  expect(await hold(waiter(2, 1, { waitedMs: 700 }))).toMatchObject([{ outcome: 'admitted', generation: 1 }]);
});

test.each<[string, HoldRequest]>([
  ['its wait is over', waiter(2, 1, { waitedMs: 20_000 })],
  ['it can wait no longer', waiter(2, 1, { waitedMs: 500, last: true })],
  ['who asks keeps no job waiting', anAsk(2, [slots(1)])],
  ['a rule refuses it, too', { ...waiter(2), violations: [blocked] }],
  ['the limit does not wait', waiter(2, 1, {}, [claim('group/1', 1, 1, { counter: SLOTS, unit: 'jobs' })])],
])('it is rejected and recorded where %s', async (_, ask) => {
  const { hold, ledger } = house();
  await hold(waiter(1));
  expect(await hold(ask)).toMatchObject([{ outcome: 'rejected', generation: 1 }]);
  expect(await ledger.readRecord(2)).toMatchObject({ state: 'REJECTED' });
});

test('a budget that is used up as well rejects at once', async () => {
  const { hold } = house();
  const money = claim('group/1', 10, 10);
  await hold(anAsk(1, [slots(1), money]));
  expect(await hold(waiter(2, 1, {}, [slots(1), money]))).toMatchObject([{ outcome: 'rejected' }]);
});

test('nobody takes what others wait for, and whoever does not ask for it passes', async () => {
  const { hold, ledger } = house();
  await hold(waiter(1, 2));
  const behind = new Set([LINE]);
  const [newcomer, elsewhere, itsTurn] = await hold(
    waiter(2, 2, { behind }),
    waiter(3, 5, { behind }, [claim('group/2', 1, 5, { unit: 'jobs', waitMs: 20_000 })]),
    waiter(4, 2, { waitedMs: 900 }),
  );
  expect(newcomer).toMatchObject({
    outcome: 'waiting',
    counters: [LINE],
    violations: [{ reason: { committed: 2, limitAmount: 2 } }],
  });
  expect(elsewhere).toMatchObject({ outcome: 'admitted' });
  expect(itsTurn).toMatchObject({ outcome: 'admitted' });
  expect(await ledger.readRecord(2)).toBeUndefined();
});

test('a job that holds already is told so, though others wait or nothing is free', async () => {
  const { hold, newLedger, clock } = house();
  await hold(waiter(1));
  expect(await hold(waiter(1))).toMatchObject([{ outcome: 'admitted', repeated: true }]);
  expect(await hold(waiter(1, 1, { behind: new Set([LINE]) }))).toMatchObject([
    { outcome: 'admitted', repeated: true },
  ]);
  // By a process that has seen nothing yet, beside jobs enough for a second transaction.
  const asks = [waiter(2), ...Array.from({ length: 120 }, (_, at) => waiter(at + 10)), waiter(1)];
  const outcomes = await newLedger().hold(asks, clock.monotonicMs() + 2_000);
  expect(wordOf(outcomes.at(-1))).toBe('admitted');
  expect(new Set(outcomes.slice(0, -1).map(wordOf))).toEqual(new Set(['waiting']));
});

test('a job waits only once its record was looked at: where counters cannot be read, it is read by itself', async () => {
  const { hold, clock, store } = house();
  await hold(waiter(1));
  const blind = createLedger({
    store: { ...store, readCounters: () => Promise.reject(new LedgerError('ledger_unavailable', 'silent')) },
    clock,
    random: () => 0.5,
  });
  const asks = [...Array.from({ length: 120 }, (_, at) => waiter(at + 10)), waiter(1)];
  const outcomes = await blind.hold(asks, clock.monotonicMs() + 2_000);
  expect(outcomes.at(-1)).toMatchObject({ outcome: 'admitted', repeated: true });
  expect(new Set(outcomes.slice(0, -1).map(wordOf))).toEqual(new Set(['waiting']));
});

test('nobody waits for room that a job of the same batch was taken to have, and does not get', async () => {
  const { hold, newLedger, clock, ledger } = house();
  const elsewhere = claim('group/2', 1, 1, { counter: counter('group/2', 'jobs-now', 'now'), unit: 'jobs' });
  await hold(anAsk(1, [elsewhere]));
  // Another process, which does not know that group/2 is full: it finds out by writing.
  const outcomes = await newLedger().hold(
    [waiter(2, 1, {}, [slots(1), elsewhere]), waiter(3), waiter(4)],
    clock.monotonicMs() + 2_000,
  );
  expect(outcomes).toMatchObject([{ outcome: 'rejected' }, { outcome: 'admitted' }, { outcome: 'waiting' }]);
  expect(await ledger.readRecord(4)).toBeUndefined();
  expect(await ledger.readCounters([SLOTS])).toMatchObject([{ committed: 1 }]);
});
