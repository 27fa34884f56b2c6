import { expect, test } from 'vitest';
import { house, MINUTE_MS, range } from './house.ts';

test('no slot stays wrongly taken more than 3 min when events are lost, long before the hold is due', async () => {
  const { clock, gitlab, hold, sweep, gitlabJob, finished, slots } = house();
  const jobIds = range(1, 300);
  await hold(jobIds);
  gitlab.put(...jobIds.map((jobId) => gitlabJob(jobId)));
  clock.advance(10 * MINUTE_MS);
  await sweep();
  expect(await slots()).toBe(300);
  // One in twenty ended, and nobody heard of it.
  gitlab.put(...jobIds.filter((jobId) => jobId % 20 === 0).map((jobId) => finished(jobId, 600)));
  const before = gitlab.total;
  clock.advance(MINUTE_MS);
  expect(await sweep()).toMatchObject({ settled: 15, due: 0 });
  expect(await slots()).toBe(285);
  // 285 running in 3 pages, 15 ended ones in 3 more, and the search for bypass: no call per running job.
  expect(gitlab.total - before).toBeLessThanOrEqual(12);
});

test('jobs that wait, run or wind down keep their hold, and nothing is written about them', async () => {
  const { clock, gitlab, hold, sweep, gitlabJob, states, store } = house();
  const statuses = ['pending', 'created', 'running', 'canceling', 'waiting_for_resource'] as const;
  await hold(statuses.map((_, index) => index + 1));
  gitlab.put(...statuses.map((status, index) => gitlabJob(index + 1, { status })));
  const before = JSON.stringify([...store.dump()]);
  clock.advance(10 * MINUTE_MS);
  expect(await sweep()).toMatchObject({ verified: 5, released: 0, settled: 0, postponed: 0 });
  expect(new Set(await states(1, 2, 3, 4, 5))).toEqual(new Set(['HELD']));
  expect(JSON.stringify([...store.dump()])).toBe(before);
});

test('with fewer calls than holds no hold is passed over for ever', async () => {
  const { clock, gitlab, hold, sweep, gitlabJob } = house({ callsMax: 60, runMs: 50_000 });
  const jobIds = range(1, 200);
  // Each job has its own runner and project: lists show nothing that a call about the job would not.
  for (const jobId of jobIds) {
    await hold([jobId], { projectId: jobId });
    gitlab.put(gitlabJob(jobId, { runnerId: jobId, projectId: jobId, status: 'pending' }));
  }
  const asked = new Set<number>();
  gitlab.fail = (call, id) => {
    if (call === 'job') asked.add(id);
    return undefined;
  };
  clock.advance(3 * MINUTE_MS);
  let runs = 0;
  for (; asked.size < jobIds.length && runs < 20; runs += 1) {
    expect((await sweep()).cutShort).toBe(true);
    clock.advance(MINUTE_MS);
  }
  expect(asked.size).toBe(200);
  expect(runs).toBeLessThanOrEqual(8);
});
