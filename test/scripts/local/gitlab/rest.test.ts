import { expect, test } from 'vitest';
import { hookBench, newJob, RUNNER } from '../../../support/hook-bench.ts';

const bench = () => {
  const { local } = hookBench();
  for (let id = 1; id <= 45; id += 1) {
    local.create(newJob(id));
    local.start(id, RUNNER);
  }
  const get = (path: string, token = 'glpat-local') =>
    local.fetch(`http://gitlab.localhost/api/v4${path}`, { headers: { 'private-token': token } });
  return { local, get };
};

test.each([
  { path: '/projects/42/jobs/1', token: 'glpat-wrong', status: 401, message: '401 Unauthorized' },
  { path: '/projects/42/jobs/99', token: 'glpat-local', status: 404, message: '404 Not found' },
  { path: '/runners/99/jobs', token: 'glpat-local', status: 404, message: '404 Not found' },
  { path: '/nothing', token: 'glpat-local', status: 404, message: '404 Not found' },
])('$path with $token is answered $status', async ({ path, token, status, message }) => {
  const response = await bench().get(path, token);
  expect([response.status, await response.json()]).toEqual([status, { message }]);
});

test('a single job has its runner and a project without id; a listed job the reverse', async () => {
  const { get } = bench();
  const single: unknown = await (await get('/projects/42/jobs/1')).json();
  const listed: unknown = await (await get('/runners/7/jobs?per_page=1')).json();
  expect(single).toMatchObject({ runner: { id: 7 }, project: { ci_job_token_scope_enabled: false } });
  expect(single).not.toHaveProperty('project.id');
  expect(listed).toMatchObject([{ id: 45, project: { id: 42, path_with_namespace: 'shop/web-app' } }]);
  expect(listed).not.toHaveProperty('[0].runner');
});

test('a failure reason is there only when the job failed', async () => {
  const { local, get } = bench();
  local.end(1, { status: 'failed', failureReason: 'script_failure' });
  local.end(2, { status: 'success' });
  expect(await (await get('/projects/42/jobs/1')).json()).toHaveProperty('failure_reason', 'script_failure');
  expect(await (await get('/projects/42/jobs/2')).json()).not.toHaveProperty('failure_reason');
});

test('numbered pages tell of the others, 20 a page unless asked', async () => {
  const { get } = bench();
  const second = await get('/runners/7/jobs?page=2');
  expect(Object.fromEntries(second.headers)).toMatchObject({
    'x-page': '2',
    'x-per-page': '20',
    'x-next-page': '3',
    'x-prev-page': '1',
    'x-total': '45',
    'x-total-pages': '3',
    link: expect.stringContaining('rel="next"'),
  });
  const last = await get('/runners/7/jobs?page=3');
  expect([last.headers.get('x-next-page'), last.headers.has('link')]).toEqual(['', false]);
  expect(await last.json()).toHaveLength(5);
});

test('a project with a pipeline is a project like any other, in a group that is there as well', async () => {
  const { local } = hookBench({
    projects: [{ id: 900, path: 'platform/tools/canary', defaultBranch: 'trunk', jobs: [] }],
  });
  const read = async (path: string) =>
    (
      await local.fetch(`https://gitlab/api/v4${path}`, { headers: { 'private-token': 'glpat-local' } })
    ).json();
  const groups = (await read('/groups')) as { id: number; full_path: string }[];
  expect(groups.map(({ full_path }) => full_path)).toEqual(['platform', 'platform/tools']);
  expect(await read('/projects/platform%2Ftools%2Fcanary')).toMatchObject({
    ...{ id: 900, path_with_namespace: 'platform/tools/canary', default_branch: 'trunk' },
    namespace: { id: groups[1]?.id },
  });
  expect(await read('/projects')).toMatchObject([{ id: 900 }]);
});

test('a job that is retried says in its webhook how many runs were before it', async () => {
  const { local, delivered, clock } = hookBench();
  local.create(newJob(1));
  const run = (jobId: number): void => {
    local.start(jobId, RUNNER);
    local.end(jobId, { status: 'failed' });
  };
  const retry = async (jobId: number): Promise<number> => {
    const made = await local.fetch(`https://gitlab/api/v4/projects/42/jobs/${jobId}/retry`, {
      ...{ method: 'POST', headers: { 'private-token': 'glpat-local' } },
    });
    return ((await made.json()) as { readonly id: number }).id;
  };
  run(1);
  const second = await retry(1);
  run(second);
  run(await retry(second));
  clock.advance(100_000);
  await local.hooksIdle();
  const counts = delivered.map(({ body }) => body as { build_id: number; retries_count: number });
  expect(new Map(counts.map(({ build_id, retries_count }) => [build_id, retries_count]))).toEqual(
    new Map([
      [1, 0],
      [2, 1],
      [3, 2],
    ]),
  );
});
