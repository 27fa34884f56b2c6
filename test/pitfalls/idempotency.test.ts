import { expect, test } from 'vitest';
import { aJob, MINUTE_MS, neverRan, ONE, ran, world } from './world.ts';

const LIMITS = [{ on: { group: 100 }, money: 10, per: 'month' }];

test('a duplicate admit after 10 min, when the token window is over: the same answer, charged once', async () => {
  const { ask, other, clock, committed } = world({ limits: LIMITS });
  const [first] = await ask([aJob(1)]);
  clock.advance(11 * MINUTE_MS);
  const [again] = await ask([aJob(1)]);
  const [elsewhere] = await ask([aJob(1)], other);
  expect([again, elsewhere]).toEqual([first, first]);
  expect(await committed('group/100')).toBe(ONE);
});

test('a duplicate finished changes nothing, in one batch or days later', async () => {
  const { outcome, hear, clock, committed, record } = world({ limits: LIMITS });
  expect(await outcome(aJob(1))).toBe('admitted');
  expect(await hear(ran(1, 120), ran(1, 120))).toEqual(['applied', 'applied']);
  const settled = await record(1);
  clock.advance(3 * 24 * 60 * MINUTE_MS);
  expect(await hear(ran(1, 120))).toEqual(['unchanged']);
  expect([await record(1), await committed('group/100')]).toEqual([settled, 0.2 * ONE]);
});

test('finished before started: the end counts, and a start that comes later reopens nothing', async () => {
  const { outcome, hear, committed, record } = world({ limits: LIMITS });
  await outcome(aJob(1));
  const { durationSeconds: _, finishedAtMs: __, ...started } = ran(1, 120, { status: 'running' });
  expect(await hear(ran(1, 120))).toEqual(['applied']);
  expect(await hear(started)).toEqual(['ignored']);
  expect([(await record(1))?.state, await committed('group/100')]).toEqual(['SETTLED', 0.2 * ONE]);
});

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
  const house = world({ limits: LIMITS }, { store });
  expect(await house.outcome(aJob(1))).toBe('admitted');
  expect(canceled).toEqual(['applied']);
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
  const house = world({ limits: LIMITS }, { store });
  expect(await house.outcome(aJob(1))).toBe('admitted');
  expect(heard).toEqual(['ignored']);
  expect(await house.record(1)).toMatchObject({ state: 'HELD', dueAtMs: expect.any(Number) });
  // What the sweep hears from GitLab once it asks.
  expect(await house.hear(neverRan(1))).toEqual(['applied']);
  expect(await house.committed('group/100')).toBe(0);
});
