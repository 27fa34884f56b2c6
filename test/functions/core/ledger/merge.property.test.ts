import fc from 'fast-check';
import { expect, test } from 'vitest';
import { CounterMerge, fitsBound, packs } from '../../../../functions/core/ledger/counter.ts';
import { claim } from '../../../support/ledger/asks.ts';

const oneClaim = fc.record({
  amount: fc.integer({ min: 0, max: 20 }),
  bound: fc.option(fc.integer({ min: 0, max: 60 }), { nil: undefined }),
  mode: fc.constantFrom('enforce' as const, 'shadow' as const, 'warn' as const),
});

test('the merged condition passes exactly when every claim would have passed one after the other', () => {
  fc.assert(
    fc.property(
      fc.array(oneClaim, { minLength: 1, maxLength: 8 }),
      fc.nat(80),
      fc.nat(80),
      (claims, committed, fitted) => {
        const merge = new CounterMerge(claim('group/1', 1).counter);
        for (const { amount, bound, mode } of claims)
          merge.add(claim('group/1', amount, bound, { mode }), true, 'exempt');
        const {
          maxCommitted = Number.POSITIVE_INFINITY,
          maxFitted = Number.POSITIVE_INFINITY,
          ...write
        } = merge.write(0);

        let sum = 0;
        let allFit = true;
        for (const { amount, bound, mode } of claims) {
          const seen = (mode === 'enforce' ? committed : fitted) + sum;
          if (bound !== undefined && !fitsBound(seen, amount, bound)) allFit = false;
          sum += amount;
        }
        expect(committed <= maxCommitted && fitted <= maxFitted).toBe(allFit);
        expect([write.committed, write.fitted]).toEqual([sum, sum]);
        const unbounded = claims.filter(({ bound }) => bound === undefined);
        expect(write.unchecked.exempt ?? 0).toBe(unbounded.reduce((all, { amount }) => all + amount, 0));
      },
    ),
    { numRuns: 2000 },
  );
});

test('packs hold every job once, in order, and never more than 100 items', () => {
  const needs = fc.record({
    items: fc.integer({ min: 1, max: 2 }),
    names: fc.array(fc.constantFrom(...Array.from({ length: 40 }, (_, index) => `c${index}`)), {
      maxLength: 24,
    }),
  });
  fc.assert(
    fc.property(fc.array(needs, { maxLength: 150 }), (jobs) => {
      const all = packs(jobs, (need) => need);
      expect(all.flat()).toEqual(jobs);
      for (const pack of all) {
        const items = pack.reduce((sum, { items }) => sum + items, 0);
        expect(items + new Set(pack.flatMap(({ names }) => names)).size).toBeLessThanOrEqual(100);
      }
    }),
  );
});
