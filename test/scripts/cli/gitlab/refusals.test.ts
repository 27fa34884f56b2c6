/** Every way GitLab refuses, in words with a remedy; and what it lets go wrong with scopes and webhooks. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { HOOK_URL, memoryParameters, setupBench, someGroups } from './setup-bench.ts';

const SETUP = `setup --webhook-url ${HOOK_URL}`;
const STATUS = `status --webhook-url ${HOOK_URL}`;
const groups = someGroups(3);

test.each([
  [{ licence: 'none' }, 'GitLab has no runner controllers here', 'an Ultimate licence'],
  [{ licence: 'none', groups }, 'GitLab has no webhooks of groups here', 'a Premium or Ultimate licence'],
  [
    { administrator: false },
    'GitLab does not let the token do this',
    "an administrator's token of scope api, with admin_mode",
  ],
  [{ routerUrl: null }, 'which has the job router, is off', "gitlab_kas['enable'] = true"],
  [
    { flags: { job_router: 'on' } },
    'job_router_admission_control is off',
    'POST /api/v4/features/job_router_admission_control with value=true',
  ],
  [
    { flags: { job_router_admission_control: 'conditional' } },
    'job_router_admission_control is on for some only',
    'value=true',
  ],
] as const)('%j: %s', async (administration, says, remedy) => {
  const { code, out } = await setupBench({ administration }).run(SETUP);
  expect(code).toBe(2);
  expect(out).toContain(says);
  expect(out).toContain(remedy);
});

const answering = (answer: () => Response) => setupBench({ fetch: async () => answer() });

test.each([
  [
    () => Response.json({ version: '18.8.3-ee', kas: { enabled: true } }),
    'GitLab 18.8.3-ee has no runner controllers',
  ],
  [
    () => Response.json({ revision: 'abc' }),
    'the answer is not what GitLab documents (GET /metadata at https://gitlab.example.com: 200): version',
  ],
  [() => new Response('<html>', { status: 200 }), "check GitLab's address"],
  [
    () => new Response(null, { status: 302, headers: { location: 'https://evil.example.com' } }),
    'a redirect to https://evil.example.com',
  ],
])('an answer that is none of a new GitLab is named: %#', async (answer, says) => {
  const { code, out } = await answering(answer).run(SETUP);
  expect([code, out]).toEqual([2, expect.stringContaining(says)]);
});

test('GitLab is waited for as long as it asks, and a GitLab that is down ends with 1', async () => {
  const bench = setupBench();
  const beforeMs = bench.clock.nowMs();
  bench.local.faults.answerRest({ status: 429, retryAfterSeconds: 7 }, 2);
  bench.local.faults.answerRest({ status: 429 }, 1);
  expect((await bench.run(SETUP)).code).toBe(0);
  expect(bench.clock.nowMs() - beforeMs).toBe(7_000 + 7_000 + 60_000);

  for (const [status, says] of [
    [502, /GET \/metadata: GitLab at .* answered 502/],
    [429, /GitLab asks to wait, again and again/],
  ] as const) {
    bench.local.faults.clear();
    bench.local.faults.answerRest({ status }, Number.POSITIVE_INFINITY);
    expect(await bench.run(SETUP)).toMatchObject({ code: 1, out: expect.stringMatching(says) });
  }
});

test('a controller somebody else made is adopted by its description and keeps its state; of two none is', async () => {
  const bench = setupBench();
  await bench.run(SETUP);
  bench.local.changeController(1, { description: 'by Terraform', state: 'enabled' });
  const { code, out } = await bench.run([...SETUP.split(' '), '--name', 'by Terraform']);
  expect([code, out.includes('controller 1 "by Terraform" is enabled')]).toEqual([0, true]);
  expect(bench.state().controllers).toMatchObject([{ state: 'enabled', description: 'by Terraform' }]);
  await bench.run(`${SETUP} --name b`);
  bench.local.changeController(1, { description: 'b' });
  const twice = await bench.run(`${SETUP} --name b`);
  expect([twice.code, twice.out.includes('several controllers called "b": 1, 2')]).toEqual([2, true]);
});

test('scopes: by number; never both kinds, never a runner of a group', async () => {
  const scoped = setupBench();
  expect((await scoped.run('setup --runner 5 --runner 7')).code).toBe(0);
  expect(scoped.state().controllers).toMatchObject([{ runnerScopes: [5, 7] }]);
  expect((await scoped.run('setup')).code).toBe(0);

  const whole = setupBench();
  await whole.run('setup');
  const narrowed = await whole.run('setup --runner 5');
  expect([narrowed.code, narrowed.out.includes('its scope is the whole instance')]).toEqual([2, true]);
  const told = async (flags: string, version: '18.9' | '19.4' = '19.4') =>
    (await setupBench({ version }).run(`setup ${flags}`)).out;
  expect(await told('--runner 8')).toContain('only runners of the instance can be scoped');
  expect(await told('--runner 5', '18.9')).toContain('scopes of single runners need GitLab 18.10');
});

test('an enabled controller gets no scope: jobs would fail before anybody looked', async () => {
  const bench = setupBench();
  await bench.run('setup');
  bench.local.changeController(1, { instanceScope: false, state: 'enabled' });
  const { code, out } = await bench.run('setup');
  expect([code, out.includes('tollgate controller dry-run')]).toEqual([2, true]);
  expect(bench.local.controller(1)?.instanceScope).toBe(false);
});

test('webhooks that were changed, disabled or fail are repaired, and told', async () => {
  const bench = setupBench({ administration: { groups, disablesHooks: true } });
  await bench.run(SETUP);
  const [first, , third] = groups.map(({ id }) => bench.local.groupHooks.of(id)[0]);
  if (first === undefined || third === undefined) throw new Error('no webhooks');
  bench.local.groupHooks.change(first, { job_events: false });
  bench.local.create({ id: 1, projectId: 7, projectPath: 'team-3/web', name: 'test' });
  bench.answerHooks(503);
  for (let at = 0; at < 4; at += 1)
    await bench.local.groupHooks.tell('team-3/web', () => ({ object_kind: 'build' }));

  const looked = await bench.run(STATUS);
  expect(looked.code).toBe(2);
  for (const why of [
    'job events are off for 1 group: team-1',
    'GitLab disabled it (temporarily_disabled) for 1 group: team-3',
  ])
    expect(looked.out).toContain(why);
  const failing = await bench.run(SETUP);
  expect([failing.code, failing.out.includes('and so does a test')]).toEqual([2, true]);
  bench.answerHooks(200);
  const mended = await bench.run(SETUP);
  expect([mended.code, mended.out.includes('repaired for 1 group: team-3')]).toEqual([0, true]);
  expect((await bench.run(STATUS)).code).toBe(0);
  expect(bench.state().hooks.map((hooks) => hooks.length)).toEqual([1, 1, 1]);
});

test('a token that somebody put there is left alone until it is rotated', async () => {
  const bench = setupBench();
  await bench.run('setup');
  writeFileSync(join(bench.root, '.tollgate/secrets/router-token'), 'glrct-by-hand\n');
  const { code, out } = await bench.run('setup');
  expect([code, out.includes('holds a token that setup did not make')]).toEqual([0, true]);
  expect(bench.kept('router-token')).toBe('glrct-by-hand');
  const rotated = await bench.run('rotate-token');
  expect(rotated.out).toContain('which token was there before is not known, so none was revoked');
  expect(bench.state().controllers).toMatchObject([{ keptIsValid: true }]);
});

test('a deployment has the secret of its webhooks in Parameter Store before it has their address', async () => {
  const { known } = memoryParameters();
  const bench = setupBench();
  const secrets = '--secrets ssm:/tollgate/prod';
  const { code, out } = await bench.run(`setup ${secrets}`);
  expect([code, known.get('/tollgate/prod/webhook-secrets')?.Value.slice(0, 6)]).toEqual([0, 'whsec_']);
  expect(out).toContain('the webhooks come with --webhook-url');
  expect(bench.state().hooks.flat()).toEqual([]);
  expect((await bench.run(`${SETUP} ${secrets}`)).code).toBe(0);
  expect(bench.state().hooks.flat()).toHaveLength(3);
});

test('two deployments on one GitLab leave the webhooks of each other alone', async () => {
  const bench = setupBench();
  await bench.run(SETUP);
  const other = '--name tollgate-staging --secrets .tollgate/staging';
  expect((await bench.run(`setup --webhook-url https://staging.example.com/ ${other}`)).code).toBe(0);
  expect(bench.state().hooks.map((hooks) => hooks.length)).toEqual([2, 2, 2]);
  expect((await bench.run(STATUS)).code).toBe(0);

  const moved = await bench.run(`setup --webhook-url https://moved.example.com/ ${other}`);
  expect(moved.out).toContain('repaired for 3 groups');
  expect((await bench.run(`teardown --confirm gitlab.example.com ${other}`)).code).toBe(0);
  const hooks = bench.state().hooks.flat();
  expect(hooks.map(({ url }) => url)).toEqual([10, 11, 12].map((id) => `${HOOK_URL}/${id}`));
  expect(bench.state().controllers).toMatchObject([{ description: 'tollgate' }]);
});
