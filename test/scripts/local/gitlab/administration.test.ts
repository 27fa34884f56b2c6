/** What administrators do in the local GitLab, in GitLab's order of checks; contract.test.ts has the shapes of its answers. */
import { expect, test } from 'vitest';
import { handClock } from '../../../../scripts/local/clock/hand-clock.ts';
import { createLocalGitLab } from '../../../../scripts/local/gitlab/local-gitlab.ts';

const JOB = { id: 1, projectId: 7, projectPath: 'shop/web', name: 'test' };

function bench() {
  const received: Request[] = [];
  let status = 200;
  const local = createLocalGitLab({
    clock: handClock(1_000),
    random: Math.random,
    token: 'glpat-local',
    administration: { groups: [{ id: 3, path: 'shop' }], disablesHooks: true },
    deliver: async (request) => {
      received.push(request);
      return new Response(null, { status });
    },
  });
  local.addRunner({ id: 5, type: 'instance_type' });
  local.addRunner({ id: 6, type: 'project_type' });
  const call = async (method: string, path: string, body?: object) => {
    const answer = await local.fetch(`http://gitlab.localhost/api/v4${path}`, {
      method,
      headers: { 'private-token': 'glpat-local', 'content-type': 'application/json' },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const text = await answer.text();
    return { status: answer.status, body: text === '' ? undefined : JSON.parse(text) };
  };
  const answerWith = (code: number) => {
    status = code;
  };
  return { local, call, received, answerWith };
}

test('scopes exclude each other, and deleting what is not there is done', async () => {
  const { call } = bench();
  await call('POST', '/runner_controllers', { state: 'dry_run' });
  const at = (path: string) => `/runner_controllers/1/scopes/${path}`;
  expect((await call('POST', at('runners/5'))).body).toMatchObject({ runner_id: 5 });
  expect((await call('POST', at('runners/5'))).status).toBe(409);
  expect((await call('POST', at('instance'))).status).toBe(409);
  expect((await call('POST', at('runners/6'))).status).toBe(422);
  expect((await call('POST', at('runners/99'))).status).toBe(404);
  expect((await call('DELETE', at('instance'))).status).toBe(204);
  expect((await call('DELETE', '/runner_controllers/1')).status).toBe(204);
  expect((await call('GET', '/runner_controllers/1')).status).toBe(404);
});

test('a controller is disabled unless told otherwise, and its token is gone once revoked', async () => {
  const { call } = bench();
  expect((await call('POST', '/runner_controllers', {})).body).toMatchObject({
    state: 'disabled',
    description: '',
  });
  expect((await call('POST', '/runner_controllers', { state: 'on' })).status).toBe(400);
  const { body } = await call('POST', '/runner_controllers/1/tokens', { description: 't' });
  expect(body.token).toMatch(/^glrct-/);
  expect((await call('DELETE', `/runner_controllers/1/tokens/${body.id}`)).status).toBe(204);
  expect((await call('DELETE', `/runner_controllers/1/tokens/${body.id}`)).status).toBe(404);
});

test('a changed address clears the secret token, and only a key of 32 bytes signs', async () => {
  const { local, call, received } = bench();
  local.create(JOB);
  const url = 'https://x.example.com/hook';
  const signing_token = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
  await call('POST', '/groups/3/hooks', { url, token: 'secret', job_events: true });
  expect((await call('PUT', '/groups/3/hooks/1', { url: `${url}/2` })).body).toMatchObject({
    token_present: false,
  });
  expect((await call('PUT', '/groups/3/hooks/1', { url, signing_token: 'whsec_dG9vIHNob3J0' })).status).toBe(
    422,
  );
  expect((await call('PUT', '/groups/3/hooks/1', { url, signing_token })).body).toMatchObject({
    signing_token_present: true,
  });
  await call('POST', '/groups/3/hooks/1/test/job_events');
  expect(received.at(-1)?.headers.get('webhook-signature')).toMatch(/^v1,/);
  expect(JSON.stringify((await call('GET', '/groups/3/hooks')).body)).not.toContain(signing_token);
});

test('the fourth failure in a row disables a webhook for a minute; a test that succeeds enables it', async () => {
  const { local, call, answerWith } = bench();
  await call('POST', '/groups/3/hooks', { url: 'https://x.example.com/hook', job_events: true });
  answerWith(500);
  for (let at = 0; at < 4; at += 1) await local.groupHooks.tell('shop/web', () => ({ object_kind: 'build' }));
  expect((await call('GET', '/groups/3/hooks')).body).toMatchObject([
    { alert_status: 'temporarily_disabled' },
  ]);
  expect((await call('GET', '/groups/3/hooks/1/events?status=server_failure')).body).toHaveLength(4);
  expect((await call('GET', '/groups/3/hooks/1/events?status=successful')).body).toEqual([]);
  answerWith(200);
  local.create(JOB);
  await call('POST', '/groups/3/hooks/1/test/job_events');
  expect((await call('GET', '/groups/3/hooks')).body).toMatchObject([
    { alert_status: 'executable', disabled_until: null },
  ]);
});

test.each([
  { setting: { administrator: false }, path: '/runner_controllers', status: 403 },
  { setting: { licence: 'premium' as const }, path: '/runner_controllers', status: 404 },
  { setting: { licence: 'none' as const }, path: '/groups/3/hooks', status: 404 },
  { setting: { administrator: false }, path: '/groups/3/hooks', status: 403 },
])('$path is answered $status with $setting', async ({ setting, path, status }) => {
  const local = createLocalGitLab({
    random: Math.random,
    token: 'glpat-local',
    administration: { groups: [{ id: 3, path: 'shop' }], ...setting },
  });
  const headers = { 'private-token': 'glpat-local' };
  expect((await local.fetch(`http://gitlab.localhost/api/v4${path}`, { headers })).status).toBe(status);
});
