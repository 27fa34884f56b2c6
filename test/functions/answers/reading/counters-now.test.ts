import { expect, test } from 'vitest';
import { countersNow } from '../../../../functions/answers/reading/counters-now.ts';
import type { Counter } from '../../../../functions/core/ledger/ledger.ts';
import type { CounterSnapshot } from '../../../../functions/core/usage/counter-snapshot.ts';
import { type CounterKey, counterName } from '../../../../policies/claim.ts';

const HOUR_MS = 3_600_000;

function counting() {
  let nowMs = 0;
  const read: CounterKey[] = [];
  const key = (group: number): CounterKey => ({
    ...{ subject: `group/${group}`, limit: 'money-month', period: '2026-11' },
  });
  const ledger = {
    readCounters: async (keys: readonly CounterKey[]): Promise<readonly Counter[]> => {
      read.push(...keys);
      return keys.map((each) => ({ key: each, committed: read.length }) as Counter);
    },
  };
  const snapshot: { read: CounterSnapshot | undefined; reads: number } = { read: undefined, reads: 0 };
  const counterSnapshots = {
    read: async () => {
      snapshot.reads += 1;
      return snapshot.read;
    },
  };
  const now = countersNow({ ledger, clock: { nowMs: () => nowMs }, counterSnapshots });
  const wait = (ms: number): void => {
    nowMs += ms;
  };
  return { now, key, read, snapshot, wait };
}

const aSnapshot = (atMs: number, over: Partial<CounterSnapshot> = {}): CounterSnapshot => {
  const key = { subject: 'group/7', limit: 'money-month', period: '2026-11' };
  const counter = { key, committed: 77, rev: 3 } as Counter;
  return {
    ...{ sinceMs: 0, atMs, complete: true },
    counters: new Map([[counterName(key), counter]]),
    ...over,
  };
};

test.each([
  ['is too old', aSnapshot(0)],
  ['is not complete', aSnapshot(10 * HOUR_MS, { complete: false })],
  ['is not there', undefined],
])('a snapshot that %s is not believed, and a few counters need none', async (_why, kept) => {
  const { now, key, read, snapshot, wait } = counting();
  wait(10 * HOUR_MS);
  snapshot.read = kept;
  const keys = Array.from({ length: 1_000 }, (_, group) => key(group));
  await now.recent(keys);
  expect(read.length).toBe(1_000);
  snapshot.read = aSnapshot(10 * HOUR_MS);
  await now.recent(keys.slice(1));
  expect(read.length).toBe(1_999);
});
