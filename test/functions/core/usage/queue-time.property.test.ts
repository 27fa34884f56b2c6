import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  decodeContribution,
  encodeContribution,
  rollupKeys,
} from '../../../../functions/core/usage/rollup-store.ts';
import { queueCounts } from '../../../../functions/core/usage/usage.ts';

const facts = fc.record({
  isRetry: fc.constantFrom(undefined, true, false),
  queuedSeconds: fc.option(fc.oneof(fc.nat(100_000), fc.constantFrom(0, 10, 11, 3_600, 3_601)), {
    nil: undefined,
  }),
  micros: fc.integer({ min: -5, max: 9_000_000_000 }),
});
const key = rollupKeys('gitlab.example.com').contribution(7);
const kept = (tally: ReadonlyMap<string, number>) => ({
  ...{ jobId: 7, rev: 3, generation: 1, settled: true, day: '2026-11-21', subjects: ['instance'] },
  tally,
});

test('what a job added to usage is read as it was written, whatever GitLab told of its queue', () =>
  fc.assert(
    fc.property(facts, ({ isRetry, queuedSeconds, micros }) => {
      const settled = micros === 0 ? [] : [['settledMicros', micros] as const];
      const queue = queueCounts(isRetry, queuedSeconds, micros);
      const tally = new Map<string, number>([['jobs', 1], ...settled, ...queue]);
      const read = decodeContribution(7, encodeContribution(key, kept(tally)));
      expect([...read.tally].toSorted()).toEqual([...tally].toSorted());
    }),
  ));
