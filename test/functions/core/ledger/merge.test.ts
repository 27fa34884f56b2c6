import { expect, test } from 'vitest';
import { CounterMerge, knownCounter, packs } from '../../../../functions/core/ledger/counter.ts';
import { claim, counter } from '../../../support/ledger/asks.ts';

const needs = (names: number, from = 0) => ({
  items: 1,
  names: Array.from({ length: names }, (_, at) => `counter ${from + at}`),
});

test('a pack is as large as a transaction may be, no job is in none, and no pack is without one', () => {
  const packed = (...jobs: readonly ReturnType<typeof needs>[]) =>
    packs(jobs, (job) => job).map((pack) => pack.length);
  expect(packed()).toEqual([]);
  expect(packed(needs(59), needs(39, 59))).toEqual([2]);
  expect(packed(needs(59), needs(40, 59))).toEqual([1, 1]);
  expect(packed(needs(100))).toEqual([1]);
});

test('the mark of whoever wants his own back is renewed once half of its time is over', () => {
  const nowMs = 1_000_000;
  const markOf = (leftMs: number) =>
    knownCounter(
      {
        ...{ key: counter('cohort/ci'), committed: 1, fitted: 1, settled: 0 },
        ...{ unchecked: { bypass: 0, exempt: 0, unmetered: 0 }, rev: 1 },
        reclaimedUntilMs: nowMs + leftMs,
      },
      nowMs,
    ).reclaim;
  expect([0, 1, 60_000, 60_001, 120_000].map(markOf)).toEqual([
    ...[undefined, 'stale', 'stale', 'fresh', 'fresh'],
  ]);
});

test('a limit of 0 lets nothing pass, not even what costs nothing on a counter that a credit brought below zero', () => {
  const merge = new CounterMerge(counter('group/1'));
  merge.add(claim('group/1', 0, 0), true, undefined);
  expect(merge.write(0).maxCommitted).toBe(-Number.MAX_SAFE_INTEGER);
});
