import { expect, test } from 'vitest';
import { hookBench, newJob } from '../../../support/hook-bench.ts';
import {
  DOCUMENTED_CREATION,
  DOCUMENTED_JOB,
  DOCUMENTED_LIST,
  DOCUMENTED_MANAGERS,
  DOCUMENTED_RUNNER,
  keepsTo,
} from './documented-examples.ts';

const bench = () => {
  const { local } = hookBench();
  local.addRunner({
    id: 7,
    type: 'project_type',
    description: 'big-7',
    tags: ['linux'],
    ownerId: 42,
    maximumTimeoutSeconds: 3600,
    managers: [{ systemId: 's_1', version: '18.11.2', contactedAtMs: Date.parse('2026-10-01T07:00:00Z') }],
  });
  local.create(newJob(1));
  local.start(1, { id: 7 });
  const call = async (method: string, path: string, body?: object): Promise<unknown> => {
    const response = await local.fetch(`http://gitlab.localhost/api/v4${path}`, {
      method,
      headers: { 'private-token': 'glpat-local', 'content-type': 'application/json' },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    return response.json();
  };
  return { local, call };
};

test.each([
  { what: 'the list of all runners', path: '/runners/all', documented: DOCUMENTED_LIST },
  { what: "the managers' list", path: '/runners/7/managers', documented: DOCUMENTED_MANAGERS },
  { what: "a runner's jobs", path: '/runners/7/jobs', documented: [DOCUMENTED_JOB] },
])('$what has every documented field, of the documented kind', async ({ path, documented }) => {
  const answered = await bench().call('GET', path);
  expect(answered).not.toEqual([]);
  expect(keepsTo(documented, answered)).toEqual([]);
});

test('a runner in full has every documented field', async () => {
  const answered = await bench().call('GET', '/runners/7');
  // The names of projects are nobody's business here.
  const { projects: _, ...documented } = DOCUMENTED_RUNNER;
  expect(keepsTo({ ...documented, projects: [{ id: 1 }] }, answered)).toEqual([]);
});

test('a runner that somebody creates has a token of the new kind, which no list tells', async () => {
  const { call } = bench();
  const created = await call('POST', '/user/runners', {
    runner_type: 'group_type',
    group_id: 3,
    tag_list: ['gpu'],
  });
  expect(keepsTo(DOCUMENTED_CREATION, created)).toEqual([]);
  expect(created).toMatchObject({ id: 8, token: expect.stringMatching(/^glrt-/) });
  const shown = await call('GET', '/runners/8');
  expect(shown).toMatchObject({ tag_list: ['gpu'], created_by: { id: 1 }, status: 'never_contacted' });
  expect(JSON.stringify(shown)).not.toContain('glrt-');
  expect(await call('POST', '/user/runners', { runner_type: 'group_type' })).toHaveProperty('message');
});

test.each([
  ['?type=group_type', []],
  ['?type=project_type&paused=false', [7]],
  ['?tag_list=linux,gpu', []],
  ['?version_prefix=18.11', [7]],
  ['?status=stale', []],
])('the list filters by %s', async (query, ids) => {
  const answered = await bench().call('GET', `/runners/all${query}`);
  expect((answered as { id: number }[]).map(({ id }) => id)).toEqual(ids);
});

test('a paused runner says so in the list', async () => {
  const { call } = bench();
  expect(await call('PUT', '/runners/7', { paused: true })).toMatchObject({ paused: true, status: 'paused' });
  expect(await call('GET', '/runners/all?paused=true')).toMatchObject([{ id: 7, active: false }]);
});
