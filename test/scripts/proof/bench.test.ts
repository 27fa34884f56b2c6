import { expect, test } from 'vitest';
import type { CounterWrite } from '../../../functions/core/ledger/store.ts';
import { VirtualTime } from '../../../scripts/local/clock.ts';
import { CONTENTION, contendedStore } from '../../../scripts/proof/bench/contention-model.ts';
import { measureLoad } from '../../../scripts/proof/bench/load.ts';
import { MemoryStore } from '../../support/ledger/memory-store.ts';

const write = (subject: string): CounterWrite => ({
  kind: 'counter',
  key: { subject, limit: 'jobs-now', period: 'now' },
  committed: 1,
  fitted: 1,
  settled: 0,
  unchecked: {},
});

test.each([
  { subjects: ['group/1', 'group/1'], outcomes: ['committed', 'conflict'] },
  { subjects: ['group/1', 'group/2'], outcomes: ['committed', 'committed'] },
])('two transactions on $subjects end as $outcomes', async ({ subjects, outcomes }) => {
  const time = new VirtualTime();
  const store = contendedStore(new MemoryStore({ instance: 'model.example.com' }), time, () => 0.5);
  const both = subjects.map((subject, index) =>
    store.transact([write(subject)], { token: String(index), timeoutMs: 1_000 }),
  );
  expect((await time.run(Promise.all(both))).map(({ outcome }) => outcome)).toEqual(outcomes);
});

test('an item takes a limited number of write units a second and throttles beyond', async () => {
  // Transactions take no time: only the units bound them.
  const instant = { monotonicMs: () => 0, sleep: async () => {} };
  const store = contendedStore(new MemoryStore({ instance: 'model.example.com' }), instant, () => 0.5);
  const allowed = CONTENTION.itemWriteUnitsPerSecond / CONTENTION.transactionWriteUnitsPerItem;
  const outcomes: string[] = [];
  for (let index = 0; index < allowed + 10; index += 1)
    outcomes.push(
      (await store.transact([write('group/1')], { token: String(index), timeoutMs: 1_000 })).outcome,
    );
  expect(outcomes.indexOf('throttled')).toBe(allowed);
});

test('one root at a low rate: all decided, and ends settled', async () => {
  const outcome = await measureLoad({ roots: 1, relays: 1, isShared: false, perSecond: 100 });
  expect(outcome.undecidedShare).toBe(0);
  expect(outcome.p99Ms).toBeLessThan(100);
  expect(outcome.settledShare).toBeGreaterThan(0.5);
  expect(outcome.settledShare).toBeLessThanOrEqual(1);
});
