import { expect, test } from 'vitest';
import { createLedger } from '../../../../functions/core/ledger/create-ledger.ts';
import type { HoldRequest, Ledger } from '../../../../functions/core/ledger/ledger.ts';
import type { LedgerStore } from '../../../../functions/core/ledger/store.ts';
import { countingStore } from '../../../../scripts/proof/bench/counting-store.ts';
import { anAsk, claim, counter, graced, wordOf } from '../../../support/ledger/asks.ts';
import { MemoryStore, type StoreFault } from '../../../support/ledger/memory-store.ts';
import { manualClock } from '../../../support/ledger/test-clock.ts';

const INSTANCE = 'gitlab.example.com';
const DEADLINE_MS = 2_000;

/** A ledger on a table with faults, on time that only passes when somebody waits. */
function house(faults: (StoreFault | undefined)[] = [], forever?: StoreFault) {
  const clock = manualClock();
  const left = [...faults];
  const tokens: string[] = [];
  const memory = new MemoryStore({
    instance: INSTANCE,
    clock,
    fault: (operation) => (operation !== 'transact' ? undefined : left.length > 0 ? left.shift() : forever),
  });
  const store = countingStore(memory, INSTANCE);
  const noting: LedgerStore = {
    ...store,
    transact: (writes, options) => {
      tokens.push(options.token);
      return store.transact(writes, options);
    },
  };
  const newLedger = () => createLedger({ store: noting, clock, random: () => 0.5 });
  const ledger = newLedger();
  const hold = async (asks: readonly HoldRequest[], leftMs = DEADLINE_MS, by: Ledger = ledger) =>
    by.hold(asks, clock.monotonicMs() + leftMs);
  return { clock, ledger, newLedger, hold, tokens, counts: store.counts, faults: left };
}

const group = (jobId: number, amount = 10, bound = 100) => anAsk(jobId, [claim('group/1', amount, bound)]);
const committed = async (ledger: Ledger) => (await ledger.readCounters([counter('group/1')]))[0]?.committed;

test('no transaction is started with less than 150 ms left', async () => {
  const { hold, counts } = house();
  expect((await hold([group(1)], 149)).map(wordOf)).toEqual(['undecided:deadline']);
  expect(counts.transactions).toBe(0);
  expect((await hold([group(1)], 150)).map(wordOf)).toEqual(['admitted']);
});

test('fault 6: conflicts and throttles are tried again with the same token, and the end is as if there had been none', async () => {
  const { hold, ledger, tokens, counts } = house([
    { kind: 'conflict' },
    { kind: 'throttle' },
    { kind: 'conflict' },
  ]);
  expect((await hold([group(1), group(2)])).map(wordOf)).toEqual(['admitted', 'admitted']);
  expect(await committed(ledger)).toBe(20);
  expect(new Set(tokens).size).toBe(1);
  expect(counts).toMatchObject({ transactions: 4, conflicts: 2, throttles: 1 });
  await hold([group(3)]);
  expect(new Set(tokens).size).toBe(2);
});

test.each([
  { fault: 'conflict', word: 'undecided:contended' },
  { fault: 'throttle', word: 'undecided:unavailable' },
  { fault: 'lost-before', word: 'undecided:unavailable' },
] as const)(
  'endless $fault ends as $word within the deadline, and nothing throws',
  async ({ fault, word }) => {
    const { hold, clock } = house([], { kind: fault, latencyMs: 100 });
    expect((await hold([group(1)])).map(wordOf)).toEqual([word]);
    expect(clock.monotonicMs()).toBeLessThanOrEqual(DEADLINE_MS);
  },
);

test('a job found too large is rejected even if the rejection could not be written down', async () => {
  const { hold, newLedger, faults } = house([]);
  await hold([group(1, 90)]);
  // The first try is answered by the full counter, every later one meets a conflict.
  faults.push(undefined, ...Array<StoreFault>(60).fill({ kind: 'conflict' }));
  const outcomes = await hold([group(2, 20), group(3, 5)], DEADLINE_MS, newLedger());
  expect(outcomes.map(wordOf)).toEqual(['rejected', 'undecided:contended']);
  // Whoever gives the answer is told to keep it.
  expect(outcomes[0]).toMatchObject({ unwritten: true });
});

test('a job whose record was never looked at is not rejected by what its neighbours saw', async () => {
  const clock = manualClock();
  let transactions = 0;
  const store = new MemoryStore({
    instance: INSTANCE,
    clock,
    // The hold, then one look at the full counter; after that the table is silent, also to reads.
    fault: (operation) => {
      if (operation === 'transact') transactions += 1;
      return transactions <= 2 ? undefined : { kind: 'lost-before' };
    },
  });
  const hold = (asks: readonly HoldRequest[]) => createLedger({ store, clock }).hold(asks, DEADLINE_MS);
  // Job 200 is held already; the counter is full because of it.
  await hold([group(200, 95)]);
  const first = Array.from({ length: 99 }, (_, index) => group(index + 1, index === 0 ? 6 : 0));
  const outcomes = await hold([...first, group(200, 95)]);
  expect(wordOf(outcomes[0])).toBe('rejected');
  // It was in the second pack: by the counter alone it would not fit.
  expect(wordOf(outcomes[99])).toBe('undecided:unavailable');
});

test('a violation that needs no counter rejects even when the table is away', async () => {
  const { hold } = house([], { kind: 'lost-before' });
  const blocked = anAsk(1, [], {
    violations: [
      {
        rule: 'image',
        class: 'security',
        mode: 'enforce',
        reason: { code: 'IMAGE_NOT_ALLOWED', image: 'evil:1', allowed: [] },
      },
    ],
  });
  expect((await hold([blocked, group(2)])).map(wordOf)).toEqual(['rejected', 'undecided:unavailable']);
});

test('a counter last seen nearly full is read first: no refused transaction, and repeats cost reads alone', async () => {
  const { hold, counts } = house();
  await hold([group(1, 90), group(2, 20)]);
  expect(counts).toMatchObject({ transactions: 1, refused: 0 });
  await hold([group(3, 20)]);
  expect(counts).toMatchObject({ transactions: 2, refused: 0 });
  // Asked again and again by a flooding pipeline.
  for (let repeat = 0; repeat < 5; repeat += 1) await hold([group(2, 20), group(3, 20)]);
  expect(counts.transactions).toBe(2);
});

test('a job that hangs on a pipeline nobody could look up is undecided, not rejected', async () => {
  const clock = manualClock();
  const store = new MemoryStore({
    instance: INSTANCE,
    clock,
    fault: (operation) => (operation === 'readCounters' ? { kind: 'lost-before' } : undefined),
  });
  const hold = (asks: readonly HoldRequest[]) => createLedger({ store, clock }).hold(asks, DEADLINE_MS);
  await hold([anAsk(1, graced(7, 90, 100, 150))]);
  const outcomes = await hold([
    anAsk(2, graced(7, 20, 100, 150)),
    anAsk(3, graced(7, 61, 100, 150)),
    anAsk(4, graced(7, 10, 100, 150)),
  ]);
  // The second is past the grace whoever runs; the third needs none.
  expect(outcomes.map(wordOf)).toEqual(['undecided:unavailable', 'rejected', 'admitted']);
});

test('one ask that is not lawful is undecided and leaves its neighbours alone', async () => {
  const { hold, ledger } = house();
  const many = Array.from({ length: 25 }, (_, index) => claim(`group/${index}`, 1, 10));
  const outcomes = await hold([
    group(1, Number.NaN),
    group(2),
    group(3, -1),
    anAsk(4, many),
    group(5, 2 ** 53),
  ]);
  expect(outcomes.map(wordOf)).toEqual([
    'undecided:error',
    'admitted',
    'undecided:error',
    'undecided:error',
    'undecided:error',
  ]);
  expect(await committed(ledger)).toBe(10);
});

test('a job with a full counter costs no more than one pass: 96 jobs over a limit of 50 are decided in two transactions', async () => {
  const { hold, counts } = house([], undefined);
  const asks = Array.from({ length: 96 }, (_, index) => group(index + 1, 1, 50));
  await hold([group(1000, 1, 50)]);
  const outcomes = await hold(asks);
  expect(outcomes.filter((outcome) => wordOf(outcome) === 'admitted')).toHaveLength(49);
  expect(counts.transactions).toBe(2);
});

test('a silent table leaves ended jobs undecided, never unknown', async () => {
  const clock = manualClock();
  const store = new MemoryStore({ instance: INSTANCE, clock, fault: () => ({ kind: 'lost-before' }) });
  const ledger = createLedger({ store, clock });
  expect(await ledger.settle([{ jobId: 1, durationSeconds: 1, endedAtMs: 1 }])).toEqual(['undecided']);
  expect(
    await ledger.recordUnmetered(
      [{ ...group(1), answered: 'admitted', cause: 'deadline', answeredAtMs: 1 }],
      2_000,
    ),
  ).toEqual(['undecided']);
});

test.each([
  { leftMs: 2_000, given: [300], outcome: 'undecided:stale_limits' },
  { leftMs: 250, given: [100], outcome: 'undecided:stale_limits' },
  // No time for an answer: decided on what is known.
  { leftMs: 165, given: [], outcome: 'rejected' },
])('the question about the limits never takes what the write needs ($leftMs ms left)', async (each) => {
  const { hold, ledger, clock } = house();
  await hold([group(1, 100)]);
  const given: number[] = [];
  const limitsAreCurrent = async (timeoutMs: number): Promise<boolean> => {
    given.push(timeoutMs);
    return false;
  };
  const outcomes = await ledger.hold([group(2)], clock.monotonicMs() + each.leftMs, { limitsAreCurrent });
  expect(outcomes.map(wordOf)).toEqual([each.outcome]);
  expect(given).toEqual(each.given);
});
