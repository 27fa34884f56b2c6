import { expect, test } from 'vitest';
import type { StoreFault } from '../../functions/core/ledger/memory-store.ts';
import { aJob, ONE, world } from './world.ts';

const LIMITS = [{ on: { group: 100 }, money: 10, per: 'month' }];

test('DynamoDB throttled for a moment: tried again, admitted and charged once', async () => {
  let left = 3;
  const fault = (operation: string): StoreFault | undefined => {
    if (operation !== 'transact' || left === 0) return undefined;
    left -= 1;
    return { kind: 'throttle' };
  };
  const { outcome, committed, drift } = world({ limits: LIMITS }, { store: { fault } });
  expect(await outcome(aJob(1))).toBe('admitted');
  expect([left, await committed('group/100'), await drift()]).toEqual([0, ONE, []]);
});

test('DynamoDB throttled for good: undecided, which is for the fallback to answer, never a rejection, and no trace', async () => {
  const fault = (operation: string): StoreFault | undefined =>
    operation === 'transact' ? { kind: 'throttle' } : undefined;
  const { outcome, committed, record } = world({ limits: LIMITS }, { store: { fault } });
  expect(await outcome(aJob(1))).toMatch(/^undecided:/);
  expect([await committed('group/100'), await record(1)]).toEqual([0, undefined]);
});
