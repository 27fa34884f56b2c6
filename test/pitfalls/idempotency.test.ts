import { expect, test } from 'vitest';
import { aJob, neverRan, world } from './world.ts';

const LIMITS = [{ on: { group: 100 }, money: 10, per: 'month' }];

test('canceled while the admit is in flight, after its commit: given back, though the answer is still admitted', async () => {
  let canceled: unknown;
  const store = {
    // The webhook overtakes the answer: it is heard when the hold is written and nobody knows of it yet.
    schedule: async (step: string) => {
      if (step !== 'transacted' || canceled !== undefined) return;
      canceled = 'under way';
      canceled = await house.hear(neverRan(1));
    },
  };
  const house = world({ limits: LIMITS }, store);
  expect(await house.outcome(aJob(1))).toBe('admitted');
  expect(canceled).toMatchObject({ released: 1 });
  expect([(await house.record(1))?.state, await house.committed('group/100')]).toEqual(['RELEASED', 0]);
  expect(await house.drift()).toEqual([]);
});

test('canceled while the admit is in flight, before its commit: nothing to give back yet, and the hold has a due date', async () => {
  let heard: unknown;
  const store = {
    schedule: async (step: string) => {
      if (step !== 'transact' || heard !== undefined) return;
      heard = 'under way';
      heard = await house.hear(neverRan(1));
    },
  };
  const house = world({ limits: LIMITS }, store);
  expect(await house.outcome(aJob(1))).toBe('admitted');
  expect(heard).toMatchObject({ released: 0, kept: 1 });
  expect(await house.record(1)).toMatchObject({ state: 'HELD', dueAtMs: expect.any(Number) });
  // What the sweep hears from GitLab once it asks.
  expect(await house.hear(neverRan(1))).toMatchObject({ released: 1 });
  expect(await house.committed('group/100')).toBe(0);
});
