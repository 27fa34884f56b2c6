import { expect, test } from 'vitest';
import { historyEstimator } from '../../policies/estimate.ts';
import { NO_HISTORY, type ProjectHistory, withRuns } from '../../policies/run-history.ts';
import { aJob, count, MINUTE_MS, neverRan, ONE, ran, range, wordOf, world } from './world.ts';

const budget = (money: number) => [{ on: { group: 100 }, money, per: 'month' }];
const runsOf = (jobName: string, ...seconds: readonly number[]) =>
  seconds.map((each) => ({ jobName, runnerClass: 'small', seconds: each, endedAtMs: 0 }));
const estimating = (history: ProjectHistory) =>
  historyEstimator((projectId) => (projectId === 1 ? history : undefined));
const HOUR = 3_600;

test('parallel: 50 — one history for all, as many admitted as fit, and what settles for less lets the others in', async () => {
  const history = withRuns(NO_HISTORY, runsOf('rspec 7/50', 300, 300, 300));
  const { ask, hear, committed, drift } = world({ limits: budget(10), estimator: estimating(history) });
  const jobs = range(1, 50).map((jobId) =>
    aJob(jobId, { jobName: `rspec ${jobId}/50`, timeoutSeconds: HOUR }),
  );
  const words = (await ask(jobs)).map(wordOf);
  expect([count(words, 'admitted'), count(words, 'BUDGET_EXHAUSTED')]).toEqual([20, 30]);
  await hear(...range(1, 20).map((jobId) => ran(jobId, 60)));
  expect(await committed('group/100')).toBe(2 * ONE);
  const retried = jobs.slice(20).map((job) => ({ ...job, jobId: job.jobId + 1_000 }));
  expect(count((await ask(retried)).map(wordOf), 'admitted')).toBe(16);
  expect(await drift()).toEqual([]);
});

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
  expect(count(await hear(...canceled), 'applied')).toBe(50);
  expect(await committed('group/100', 'now', 'jobs-now')).toBe(0);
  expect([await committed('group/100'), await settled('group/100')]).toEqual([25 * 50_000, 25 * 50_000]);
  // The wave came twice: GitLab repeats itself.
  await hear(...canceled);
  expect(await committed('group/100')).toBe(25 * 50_000);
  expect(count((await wave(101)).map(wordOf), 'admitted')).toBe(48);
  expect(await drift()).toEqual([]);
});
