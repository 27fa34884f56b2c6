import { afterAll, beforeAll, expect, test } from 'vitest';
import { systemClock } from '../../../../functions/core/environment/environment.ts';
import { createGitLab } from '../../../../functions/core/gitlab/rest-gitlab.ts';
import { createLocalGitLab } from '../../../../scripts/local/gitlab/local-gitlab.ts';
import type { LoopbackServer } from '../../../../scripts/local/loopback.ts';
import { seededRandom } from '../../../../scripts/local/random.ts';
import { fill, TOKEN } from './rest-bench.ts';

const local = createLocalGitLab({ random: seededRandom(1), token: TOKEN });
let server: LoopbackServer;
beforeAll(async () => {
  server = await local.listen();
  fill(local, 120);
});
afterAll(async () => {
  local.stop();
  await server.stop();
});

const client = (changes: { token?: string; timeoutMs?: number; deadlineMs?: number } = {}) =>
  createGitLab({
    baseUrl: server.url,
    token: async () => changes.token ?? TOKEN,
    fetch,
    clock: systemClock,
    ...(changes.timeoutMs !== undefined && { timeoutMs: changes.timeoutMs }),
    ...(changes.deadlineMs !== undefined && { deadlineMs: changes.deadlineMs }),
  });

test('jobs, pages and runners come over HTTP as they are', async () => {
  const gitlab = client();
  expect(await gitlab.job(42, 1)).toMatchObject({ jobId: 1, status: 'success', runnerId: 7 });
  expect(await gitlab.job(42, 999)).toBeUndefined();
  const first = await gitlab.listJobs('runners/7', {});
  const second = await gitlab.listJobs('runners/7', { page: first.next ?? '' });
  expect([first.jobs.length, second.jobs.length, second.next]).toEqual([100, 20, undefined]);
  expect(await gitlab.runners({})).toEqual({ runnerIds: [7] });
});

test('a wrong token is refused', async () => {
  await expect(client({ token: 'glpat-wrong' }).runners({})).rejects.toMatchObject({
    code: 'gitlab_refused',
  });
});

test('a GitLab that takes the call and says nothing is given up, and answers again later', async () => {
  local.faults.answerRest('stall');
  await expect(client({ timeoutMs: 200, deadlineMs: 300 }).runners({})).rejects.toMatchObject({
    code: 'gitlab_unavailable',
  });
  local.faults.clear();
  expect((await client().runners({})).runnerIds).toEqual([7]);
});

test('429 over HTTP says how long to wait', async () => {
  local.faults.answerRest({ status: 429, retryAfterSeconds: 30 });
  await expect(client().runners({})).rejects.toMatchObject({ retryAfterMs: 30_000 });
});
