import { expect, test } from 'vitest';
import { aJob, count, MINUTE_MS, neverRan, ONE, ran, range, wordOf, world } from './world.ts';

const budget = (money: number) => [{ on: { group: 100 }, money, per: 'month' }];

test('a retry: 2 storm: retries of rejected jobs leave no trace, those of failed jobs each pay for what they ran', async () => {
  const { ask, hear, committed, settled, drift } = world({ limits: budget(5) });
  const attempt = async (from: number) =>
    (await ask(range(from, 20).map((jobId) => aJob(jobId)))).map(wordOf);
  const first = await attempt(1);
  expect([count(first, 'admitted'), count(first, 'BUDGET_EXHAUSTED')]).toEqual([5, 15]);
  for (const from of [101, 201]) expect(count(await attempt(from), 'BUDGET_EXHAUSTED')).toBe(20);
  expect(await committed('group/100')).toBe(5 * ONE);
  const failed = range(1, 5).map((jobId) =>
    ran(jobId, 60, { status: 'failed', failureReason: 'script_failure' }),
  );
  await hear(...failed);
  expect(await settled('group/100')).toBe(0.5 * ONE);
  expect(count(await attempt(301), 'admitted')).toBe(4);
  expect(await drift()).toEqual([]);
});

test('an interruptible auto-cancel wave gives back what never ran, charges what did, and frees every slot at once', async () => {
  const limits = [...budget(50), { on: { group: 100 }, jobs: 50 }];
  const { ask, hear, clock, committed, settled, drift } = world({ limits });
  const wave = (from: number) => ask(range(from, 50).map((jobId) => aJob(jobId)));
  expect(count((await wave(1)).map(wordOf), 'admitted')).toBe(50);
  clock.advance(MINUTE_MS);
  const canceled = range(1, 50).map((jobId) =>
    jobId % 2 === 0 ? neverRan(jobId) : ran(jobId, 30, { status: 'canceled' }),
  );
  expect(await hear(...canceled)).toMatchObject({ released: 25, settled: 25 });
  expect(await committed('group/100', 'now', 'jobs-now')).toBe(0);
  expect([await committed('group/100'), await settled('group/100')]).toEqual([25 * 50_000, 25 * 50_000]);
  // The wave came twice: GitLab repeats itself.
  await hear(...canceled);
  expect(await committed('group/100')).toBe(25 * 50_000);
  expect(count((await wave(101)).map(wordOf), 'admitted')).toBe(48);
  expect(await drift()).toEqual([]);
});
