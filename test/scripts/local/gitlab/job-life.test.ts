import { expect, test } from 'vitest';
import { parseJobHook } from '../../../../functions/core/gitlab/job-reader.ts';
import { jobFromQuestion } from '../../../../scripts/local/gitlab/local-gitlab.ts';
import { hookBench, newJob, RUNNER, START_MS } from '../../../support/hook-bench.ts';

test('a job tells of every change of its status, and ends with what it took', async () => {
  const { local, delivered, clock } = hookBench();
  local.create({ ...newJob(5), environment: 'production' });
  local.play(5, { runner: RUNNER, startsInMs: 4_000, runsMs: 90_000 });
  clock.advance(100_000);
  await local.hooksIdle();
  expect(delivered.map(({ status }) => status)).toEqual(['created', 'pending', 'running', 'success']);
  expect(parseJobHook(delivered.at(-1)?.body)).toEqual({
    jobId: 5,
    projectId: 42,
    status: 'success',
    projectPath: 'shop/web-app',
    jobName: 'unit',
    jobStage: 'test',
    pipelineId: 900,
    userId: 3,
    ref: 'main',
    runnerId: 7,
    runnerTags: ['linux', 'docker'],
    environment: 'production',
    createdAtMs: START_MS,
    startedAtMs: START_MS + 4_000,
    finishedAtMs: START_MS + 94_000,
    durationSeconds: 90,
    retryCount: 0,
    queuedSeconds: 4,
    failureReason: 'unknown_failure',
  });
});

test('a rejected job runs for an instant and fails for the router', async () => {
  const { local, delivered, clock } = hookBench();
  local.create(newJob(5));
  local.reject(5, RUNNER);
  clock.advance(1_000);
  await local.hooksIdle();
  expect(delivered.slice(2).map(({ status }) => status)).toEqual(['running', 'failed']);
  const truth = parseJobHook(delivered.at(-1)?.body);
  expect(truth).toMatchObject({ status: 'failed', failureReason: 'job_router_failure' });
  expect('durationSeconds' in truth && truth.durationSeconds).toBeLessThan(1);
});

test('a job that was canceled while it waited never starts', () => {
  const { local, clock } = hookBench();
  local.create(newJob(5));
  local.play(5, { runner: RUNNER, startsInMs: 1_000, runsMs: 1_000 });
  local.end(5, { status: 'canceled' });
  clock.advance(10_000);
  expect(local.job(5)).toMatchObject({ status: 'canceled', finishedAtMs: START_MS });
  expect(local.job(5)?.startedAtMs).toBeUndefined();
});

test('an ended job does not change, and an id is given once', () => {
  const { local } = hookBench();
  local.create(newJob(5));
  local.start(5, RUNNER);
  local.end(5, { status: 'success' });
  expect(() => local.end(5, { status: 'canceled' })).toThrow(/job 5 has ended with success/);
  expect(() => local.create(newJob(5))).toThrow(/job 5 is there already/);
  expect(() => local.start(6, RUNNER)).toThrow(/there is no job 6/);
});

test("a router's question becomes the job and the runner it is about", () => {
  expect(
    jobFromQuestion({
      id: 5,
      job_info: {
        project_id: 42,
        project_full_path: 'shop/web',
        name: 'deploy',
        stage: 'deploy',
        pipeline_id: 9,
        user_id: 3,
        tags: ['linux'],
      },
      git_info: { ref: 'main' },
      runner_info: { id: 7, tags: ['linux', 'docker'] },
      variables: [{ key: 'CI_ENVIRONMENT_NAME', value: 'production' }],
    }),
  ).toEqual({
    job: {
      id: 5,
      projectId: 42,
      projectPath: 'shop/web',
      name: 'deploy',
      stage: 'deploy',
      pipelineId: 9,
      userId: 3,
      ref: 'main',
      tags: ['linux'],
      environment: 'production',
    },
    runner: { id: 7, tags: ['linux', 'docker'] },
  });
});
