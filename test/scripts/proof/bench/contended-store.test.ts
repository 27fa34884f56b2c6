import { expect, test } from 'vitest';
import { MemoryStore } from '../../../../functions/core/ledger/memory-store.ts';
import type { CounterWrite } from '../../../../functions/core/ledger/store.ts';
import { VirtualTime } from '../../../../scripts/local/clock/virtual-time.ts';
import { contendedStore } from '../../../../scripts/proof/bench/contended-store.ts';
import { CONTENTION } from '../../../../scripts/proof/bench/contention-constants.ts';

const write = (subject: string): CounterWrite => ({
  kind: 'counter',
  key: { subject, limit: 'jobs-now', period: 'now' },
  committed: 1,
  fitted: 1,
  settled: 0,
  unchecked: {},
});

function aStore() {
  const time = new VirtualTime();
  const store = contendedStore(new MemoryStore({ instance: 'model.example.com' }), time, () => 0.5);
  const transact = (subject: string, token: string) =>
    store.transact([write(subject)], { token, timeoutMs: 1_000 });
  return { time, transact };
}

test('two transactions on one item at once: one wins, the other conflicts', async () => {
  const { time, transact } = aStore();
  const outcomes = await time.run(Promise.all([transact('group/1', 'a'), transact('group/1', 'b')]));
  expect(outcomes.map(({ outcome }) => outcome)).toEqual(['committed', 'conflict']);
});

test('transactions on different items do not meet', async () => {
  const { time, transact } = aStore();
  const outcomes = await time.run(Promise.all([transact('group/1', 'a'), transact('group/2', 'b')]));
  expect(outcomes.map(({ outcome }) => outcome)).toEqual(['committed', 'committed']);
});

test('an item takes so many write units a second and throttles beyond', async () => {
  const memory = new MemoryStore({ instance: 'model.example.com' });
  // A transaction that takes no time: only the units are left to bound it.
  const instant = { monotonicMs: () => 0, sleep: async () => {} };
  const store = contendedStore(memory, instant, () => 0.5);
  const allowed = CONTENTION.itemWriteUnitsPerSecond / CONTENTION.transactionWriteUnitsPerItem;
  let committed = 0;
  for (let index = 0; index < allowed + 10; index += 1) {
    const { outcome } = await store.transact([write('group/1')], { token: String(index), timeoutMs: 1_000 });
    if (outcome === 'committed') committed += 1;
    else expect(outcome).toBe('throttled');
  }
  expect(committed).toBe(allowed);
});

test('virtual time runs what is due in order, and stands still when nothing is', async () => {
  const time = new VirtualTime();
  const seen: string[] = [];
  time.after(20, () => seen.push('late'));
  time.after(10, () => seen.push('first'));
  time.after(10, () => seen.push('second'));
  const cancel = time.after(15, () => seen.push('never'));
  cancel();
  await time.run(time.sleep(30));
  expect(seen).toEqual(['first', 'second', 'late']);
  expect(time.nowMs()).toBe(30);
  await expect(time.run(new Promise(() => {}))).rejects.toThrow('virtual time stands still');
});
