/** The local GitLab's administration against GitLab's documented examples: the same fields, of the same types. */
import { expect, test } from 'vitest';
import { handClock } from '../../../../scripts/local/clock/hand-clock.ts';
import { createLocalGitLab } from '../../../../scripts/local/gitlab/local-gitlab.ts';

type Version = '18.9' | '18.11' | '19.4';

/** Answers of the API pages of docs.gitlab.com: what each field is, `|null` where the page says it may be null. */
const CONTROLLER = {
  id: 'number',
  description: 'string',
  state: 'string',
  created_at: 'string',
  updated_at: 'string',
};
const TOKEN = {
  id: 'number',
  runner_controller_id: 'number',
  description: 'string',
  last_used_at: 'string|null',
  created_at: 'string',
  updated_at: 'string',
};
const HOOK = {
  id: 'number',
  url: 'string',
  name: 'string',
  description: 'string',
  created_at: 'string',
  push_events: 'boolean',
  tag_push_events: 'boolean',
  merge_requests_events: 'boolean',
  repository_update_events: 'boolean',
  enable_ssl_verification: 'boolean',
  alert_status: 'string',
  disabled_until: 'string|null',
  url_variables: 'array',
  push_events_branch_filter: 'string|null',
  branch_filter_strategy: 'string',
  group_id: 'number',
  issues_events: 'boolean',
  confidential_issues_events: 'boolean',
  note_events: 'boolean',
  confidential_note_events: 'boolean',
  pipeline_events: 'boolean',
  wiki_page_events: 'boolean',
  job_events: 'boolean',
  deployment_events: 'boolean',
  feature_flag_events: 'boolean',
  releases_events: 'boolean',
  milestone_events: 'boolean',
  subgroup_events: 'boolean',
  emoji_events: 'boolean',
  resource_access_token_events: 'boolean',
  member_events: 'boolean',
  project_events: 'boolean',
  custom_webhook_template: 'string',
  custom_headers: 'array',
  token_present: 'boolean',
  signing_token_present: 'boolean',
};
const METADATA = {
  version: 'string',
  revision: 'string',
  'kas.enabled': 'boolean',
  'kas.externalUrl': 'string|null',
  'kas.externalK8sProxyUrl': 'string|null',
  'kas.version': 'string|null',
  enterprise: 'boolean',
};
const LICENCE = {
  id: 'number',
  plan: 'string',
  created_at: 'string',
  starts_at: 'string',
  expires_at: 'string',
  historical_max: 'number',
  maximum_user_count: 'number',
  expired: 'boolean',
  overage: 'number',
  user_limit: 'number',
  active_users: 'number',
  'licensee.Name': 'string',
  'licensee.Email': 'string',
  'licensee.Company': 'string',
};
const EVENT = {
  id: 'number',
  url: 'string',
  trigger: 'string',
  request_headers: 'object',
  request_data: 'object',
  response_headers: 'object',
  response_body: 'string',
  execution_duration: 'number',
  response_status: 'string',
};

const JOB = { id: 1, projectId: 7, projectPath: 'shop/web', name: 'test' };

function bench(version: Version = '19.4') {
  const received: Request[] = [];
  let status = 200;
  const local = createLocalGitLab({
    clock: handClock(1_000),
    random: Math.random,
    token: 'glpat-local',
    version,
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

const typeOf = (value: unknown): string =>
  value === null ? 'null' : Array.isArray(value) ? 'array' : typeof value;

function expectShape(body: unknown, shape: Readonly<Record<string, string>>, absent: readonly string[] = []) {
  const entry: unknown = Array.isArray(body) ? body[0] : body;
  for (const [path, type] of Object.entries(shape)) {
    const value = path.split('.').reduce<unknown>((at, key) => (at as Record<string, unknown>)?.[key], entry);
    if (absent.includes(path)) expect(value, path).toBeUndefined();
    else expect(type.split('|'), `${path} is ${typeOf(value)}`).toContain(typeOf(value));
  }
}

test.each(['18.9', '18.11', '19.4'] as const)(
  'GitLab %s answers as its documentation shows',
  async (version) => {
    const { local, call } = bench(version);
    const [before1810, before19] = [version === '18.9', version !== '19.4'];
    local.create(JOB);
    expectShape((await call('GET', '/metadata')).body, METADATA);
    expectShape((await call('GET', '/license')).body, LICENCE);
    expectShape((await call('GET', '/features')).body, { name: 'string', state: 'string', gates: 'array' });
    expectShape((await call('GET', '/features/definitions')).body, {
      name: 'string',
      milestone: 'string',
      type: 'string',
      default_enabled: 'boolean',
    });
    expectShape((await call('GET', '/personal_access_tokens/self')).body, {
      scopes: 'array',
      active: 'boolean',
      expires_at: 'string|null',
    });
    const made = await call('POST', '/runner_controllers', { description: 'a', state: 'dry_run' });
    expect(made.status).toBe(201);
    expectShape(made.body, CONTROLLER);
    expectShape((await call('GET', '/runner_controllers')).body, CONTROLLER);
    const connected = { connected: 'boolean' };
    expectShape(
      (await call('GET', '/runner_controllers/1')).body,
      { ...CONTROLLER, ...connected },
      before1810 ? ['connected'] : [],
    );
    const noUse = before1810 ? ['last_used_at'] : [];
    const token = await call('POST', '/runner_controllers/1/tokens', { description: 't' });
    expect(token.status).toBe(201);
    expectShape(token.body, { ...TOKEN, token: 'string' }, noUse);
    const listed = (await call('GET', '/runner_controllers/1/tokens')).body;
    expectShape(listed, TOKEN, noUse);
    expect(listed[0]).not.toHaveProperty('token');
    expectShape((await call('POST', '/runner_controllers/1/scopes/instance')).body, {
      created_at: 'string',
      updated_at: 'string',
    });
    expectShape(
      (await call('GET', '/runner_controllers/1/scopes')).body,
      { instance_level_scopings: 'array', runner_level_scopings: 'array' },
      before1810 ? ['runner_level_scopings'] : [],
    );
    const unsigned = before19 ? ['token_present', 'signing_token_present'] : [];
    const hook = {
      url: 'https://x.example.com/hook',
      name: 'Tollgate',
      push_events: false,
      job_events: true,
    };
    expectShape((await call('POST', '/groups/3/hooks', hook)).body, HOOK, unsigned);
    expectShape((await call('GET', '/groups/3/hooks')).body, HOOK, unsigned);
    expect(await call('POST', '/groups/3/hooks/1/test/job_events')).toEqual({
      status: 201,
      body: { message: '201 Created' },
    });
    const events = (await call('GET', '/groups/3/hooks/1/events')).body;
    expectShape(events, EVENT);
    expect((await call('POST', `/groups/3/hooks/1/events/${events[0].id}/resend`)).body).toEqual({
      response_status: 200,
    });
  },
);

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
