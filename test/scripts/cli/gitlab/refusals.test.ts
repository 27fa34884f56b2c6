/** Every way GitLab refuses, in words with a remedy; and what it lets go wrong with scopes and webhooks. */
import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { InstanceSettings } from '../../../../scripts/local/gitlab/instance.ts';
import { HOOK_URL, memoryParameters, setupBench, someGroups } from './setup-bench.ts';

const SETUP = `setup --webhook-url ${HOOK_URL}`;
const groups = someGroups(3);

interface RefusalExample {
  readonly administration: InstanceSettings;
  readonly says: string;
  readonly remedy: string;
}

test.each<RefusalExample>([
  { administration: { licence: 'none' }, says: 'GitLab has no licence', remedy: 'need Ultimate' },
  {
    administration: { licence: 'premium' },
    says: 'the licence is premium',
    remedy: 'an Ultimate licence; if it has both',
  },
  {
    administration: { licence: 'none', groups },
    says: 'GitLab has no webhooks of groups here',
    remedy: 'a Premium or Ultimate licence',
  },
  {
    administration: { administrator: false },
    says: 'GitLab does not let the token do this',
    remedy: "an administrator's token of scope api, with admin_mode",
  },
  {
    administration: { scopes: ['read_api'] },
    says: "the administrator's token has the scopes read_api",
    remedy: 'make one with the scope api',
  },
  {
    administration: { routerUrl: null },
    says: 'GitLab Relay (KAS), which has the job router, is off',
    remedy: "gitlab_kas['enable'] = true",
  },
  {
    administration: { applicationSettings: { silent_mode_enabled: true } },
    says: 'GitLab is in Silent Mode, in which it sends no webhooks',
    remedy: 'with silent_mode_enabled=false',
  },
  {
    administration: { flags: { job_router: 'on' } },
    says: 'job_router_admission_control is off',
    remedy: 'POST /api/v4/features/job_router_admission_control with value=true',
  },
  {
    administration: { flags: { job_router_admission_control: 'conditional' } },
    says: 'job_router_admission_control is on for some only',
    remedy: 'value=true',
  },
])('$says', async ({ administration, says, remedy }) => {
  const bench = setupBench({ administration });
  const { code, out } = await bench.run(SETUP);
  expect(code).toBe(2);
  expect(out).toContain(says);
  expect(out).toContain(remedy);
});

test.each([
  ['http://10.0.0.9/', {}, 2],
  ['http://localhost:8080/', {}, 2],
  ['http://[fd00::1]/', {}, 2],
  ['http://10.0.0.9/', { allow_local_requests_from_web_hooks_and_services: true }, 0],
  ['http://10.0.0.9/', { outbound_local_requests_whitelist: ['10.0.0.9'] }, 0],
  ['https://93.184.216.34/', {}, 0],
])('webhooks to %s where the instance has %j end with %i', async (url, applicationSettings, code) => {
  const bench = setupBench({ administration: { applicationSettings } });
  const run = await bench.run(`setup --webhook-url ${url}`);
  expect([run.code, run.out.includes('may not send webhooks into the local network')]).toEqual([
    code,
    code === 2,
  ]);
});

test('a token GitLab does not take, and a file without one, are told without quoting them', async () => {
  const bench = setupBench();
  writeFileSync(join(bench.root, 'token'), 'glpat-of-somebody-else\n');
  const { code, out } = await bench.run(SETUP);
  expect(code).toBe(2);
  expect(out).toContain('GitLab does not take the token (GET /metadata at https://gitlab.example.com: 401)');
  expect(out).toContain('it is wrong, revoked or expired');
  writeFileSync(join(bench.root, 'token'), '');
  expect((await bench.run(SETUP)).code).toBe(3);
});

test('a token that soon expires still does, and says until when', async () => {
  const bench = setupBench({ administration: { groups, expiresAt: '2026-11-28' } });
  const { code, out } = await bench.run(SETUP);
  expect([code, out.includes('expires on 2026-11-28 at 00:00 UTC: soon')]).toEqual([0, true]);
});

test('GitLab before 18.9 is told to be upgraded, and nothing is asked of it', async () => {
  const bench = setupBench({
    fetch: async (input) =>
      String(input).endsWith('/metadata')
        ? Response.json({ version: '18.8.3-ee', kas: { enabled: true } })
        : Response.json({ message: '404 Not found' }, { status: 404 }),
  });
  const { code, out } = await bench.run(SETUP);
  expect([code, out.includes('GitLab 18.8.3-ee has no runner controllers')]).toEqual([2, true]);
});

test('an answer that lacks a field says which one; fields that are new do no harm', async () => {
  const lacking = setupBench({ fetch: async () => Response.json({ revision: 'abc' }) });
  expect((await lacking.run(SETUP)).out).toContain(
    'the answer is not what GitLab documents (GET /metadata at https://gitlab.example.com: 200): version',
  );
  const page = setupBench({ fetch: async () => new Response('<html>', { status: 200 }) });
  expect((await page.run(SETUP)).out).toContain("check GitLab's address");
  const away = setupBench({
    fetch: async () => new Response(null, { status: 302, headers: { location: 'https://evil.example.com' } }),
  });
  expect((await away.run(SETUP)).out).toContain('a redirect to https://evil.example.com');
});

test('GitLab is waited for as long as it asks, and a GitLab that is down ends with 1', async () => {
  const bench = setupBench();
  const beforeMs = bench.clock.nowMs();
  bench.local.faults.answerRest({ status: 429, retryAfterSeconds: 7 }, 2);
  bench.local.faults.answerRest({ status: 429 }, 1);
  expect((await bench.run(SETUP)).code).toBe(0);
  expect(bench.clock.nowMs() - beforeMs).toBe(7_000 + 7_000 + 60_000);

  bench.local.faults.answerRest({ status: 502 }, Number.POSITIVE_INFINITY);
  const down = await bench.run(SETUP);
  expect([down.code, /GET \/metadata: GitLab at .* answered 502/.test(down.out)]).toEqual([1, true]);
  bench.local.faults.clear();
  bench.local.faults.answerRest({ status: 429 }, Number.POSITIVE_INFINITY);
  const limited = await bench.run(SETUP);
  expect([limited.code, limited.out.includes('GitLab asks to wait, again and again')]).toEqual([1, true]);
});

test('a controller somebody else made is adopted by number and keeps its state', async () => {
  const bench = setupBench();
  await bench.run(SETUP);
  bench.local.changeController(1, { description: 'by Terraform', state: 'enabled' });
  const { code, out } = await bench.run(`${SETUP} --controller 1`);
  expect([code, out.includes('controller 1 "by Terraform" is enabled')]).toEqual([0, true]);
  expect(bench.state().controllers).toMatchObject([{ state: 'enabled', description: 'by Terraform' }]);
  expect((await bench.run('status --controller 9')).out).toContain(
    'GitLab has no runner controllers here, or none of this number',
  );
});

test('of two controllers with one description somebody must say which', async () => {
  const bench = setupBench();
  await bench.run(`${SETUP} --name a`);
  await bench.run(`${SETUP} --name b`);
  bench.local.changeController(2, { description: 'a' });
  const { code, out } = await bench.run(`${SETUP} --name a`);
  expect([code, out.includes('GitLab has several controllers called "a": 1, 2')]).toEqual([2, true]);
});

test('scopes: by number, tags or owner; never both kinds, never a runner of a group', async () => {
  const tagged = setupBench();
  expect((await tagged.run('setup --runner-tag linux --runner-tag gpu --runner 5')).code).toBe(0);
  expect(tagged.state().controllers).toMatchObject([{ runnerScopes: [5, 7] }]);
  expect((await tagged.run('setup --instance')).out).toContain('its scope is runners 5, 7');
  expect((await tagged.run('setup')).code).toBe(0);

  const whole = setupBench();
  await whole.run('setup');
  const narrowed = await whole.run('setup --runner 5');
  expect([narrowed.code, narrowed.out.includes('its scope is the whole instance')]).toEqual([2, true]);

  const ofGroup = await setupBench().run('setup --runner 8');
  expect(ofGroup.out).toContain('only runners of the instance can be scoped, none of a group or project');
  expect((await setupBench().run('setup --runner 99')).out).toContain(
    'GitLab knows no such controller, runner or kind of scope',
  );
  expect((await setupBench().run('setup --runner-tag arm')).out).toContain(
    'no runner of the instance is like that',
  );
  expect((await setupBench().run('setup --runner-owner ada')).out).toContain(
    'does not say who made a runner',
  );
  expect((await setupBench({ version: '18.9' }).run('setup --runner 5')).out).toContain(
    'GitLab 18.9 has no scopes of single runners',
  );
  expect((await setupBench().run('setup --instance --runner 5')).code).toBe(3);
});

test('an enabled controller gets no scope: jobs would fail before anybody looked', async () => {
  const bench = setupBench();
  await bench.run('setup');
  bench.local.changeController(1, { instanceScope: false, state: 'enabled' });
  const { code, out } = await bench.run('setup');
  expect([code, out.includes('tollgate controller dry-run')]).toEqual([2, true]);
  expect(bench.local.controller(1)?.instanceScope).toBe(false);
});

test('the router’s address as a runner is told it', async () => {
  const bench = setupBench({ administration: { groups, runnerToken: 'glrt-runner' } });
  writeFileSync(join(bench.root, 'runner'), 'glrt-runner\n');
  expect((await bench.run('setup --runner-token-file runner')).out).toContain(
    'runners are sent to wss://kas.gitlab.localhost',
  );
  const off = setupBench({ administration: { groups, runnerToken: 'glrt-runner', flags: {} } });
  writeFileSync(join(off.root, 'runner'), 'glrt-runner\n');
  expect((await off.run('setup --runner-token-file runner')).out).toContain(
    "GitLab's job router is not available for this runner",
  );
});

test('webhooks that were changed, doubled, disabled or fail are repaired, and told', async () => {
  const bench = setupBench({ administration: { groups, disablesHooks: true } });
  await bench.run(SETUP);
  const [first, second, third] = groups.map(({ id }) => bench.local.groupHooks.of(id)[0]);
  if (first === undefined || second === undefined || third === undefined) throw new Error('no webhooks');
  bench.local.groupHooks.change(first, { job_events: false });
  bench.local.groupHooks.make(second.groupId, { ...second.setting });
  bench.local.create({ id: 1, projectId: 7, projectPath: 'team-3/web', name: 'test' });
  bench.answerHooks(503);
  for (let at = 0; at < 4; at += 1)
    await bench.local.groupHooks.tell('team-3/web', () => ({ object_kind: 'build' }));

  const looked = await bench.run(`status --webhook-url ${HOOK_URL}`);
  expect(looked.code).toBe(2);
  for (const why of [
    'team-1: job events are off',
    'team-2: it is there more than once',
    'team-3: GitLab disabled it (temporarily_disabled)',
  ])
    expect(looked.out).toContain(why);
  const failing = await bench.run(SETUP);
  expect([failing.code, failing.out.includes('and so does a test')]).toEqual([2, true]);
  bench.answerHooks(200);
  const mended = await bench.run(SETUP);
  expect([mended.code, mended.out.match(/repaired for 1 group: team-3/)?.[0]]).toEqual([
    0,
    'repaired for 1 group: team-3',
  ]);
  expect((await bench.run(`status --webhook-url ${HOOK_URL}`)).code).toBe(0);
  expect(bench.state().hooks.map((hooks) => hooks.length)).toEqual([1, 1, 1]);
});

test('a webhook with another secret gets the one that is kept; a new group gets its webhook', async () => {
  const bench = setupBench();
  await bench.run(SETUP);
  const hook = bench.local.groupHooks.of(10)[0];
  if (hook === undefined) throw new Error('no webhook');
  bench.local.groupHooks.remove(hook);
  expect((await bench.run(`status --webhook-url ${HOOK_URL}`)).out).toContain('1 group without: team-1');
  writeFileSync(
    join(bench.root, '.tollgate/secrets/webhook-secrets'),
    `whsec_${Buffer.alloc(32, 3).toString('base64')}\n`,
  );
  expect((await bench.run(`status --webhook-url ${HOOK_URL}`)).out).toContain(
    'team-2: it is not known to have the secret that is kept',
  );
  await bench.run(SETUP);
  expect(
    bench
      .state()
      .hooks.flat()
      .map(({ signedByKept }) => signedByKept),
  ).toEqual([true, true, true]);
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

test('a folder that cannot be written is told before any token is lost in it', async () => {
  const bench = setupBench();
  writeFileSync(join(bench.root, 'occupied'), '');
  const { code, err } = await bench.run('setup --secrets occupied');
  expect([code, err.includes('occupied')]).toEqual([3, true]);
  chmodSync(join(bench.root, 'occupied'), 0o600);
});

test('as JSON all of it is one object', async () => {
  const { out } = await setupBench().run(`${SETUP} --json`);
  expect(JSON.parse(out)).toMatchObject({
    gitlab: 'https://gitlab.example.com',
    mode: 'change',
    version: '19.4.0-ee',
    routerUrl: 'wss://kas.gitlab.localhost',
    controller: { id: 1, state: 'dry_run' },
  });
});

test('a deployment has the secret of its webhooks in Parameter Store before it has their address', async () => {
  const { known } = memoryParameters();
  const bench = setupBench();
  const secrets = '--secrets ssm:/tollgate/prod';
  const { code, out } = await bench.run(`setup ${secrets}`);
  expect([code, known.get('/tollgate/prod/webhook-secrets')?.Value.slice(0, 6)]).toEqual([0, 'whsec_']);
  expect(out).toContain('the webhooks come with --webhook-url');
  expect(out).toContain('Once it is deployed, the same with --webhook-url makes the webhooks');
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
  expect((await bench.run(`status --webhook-url ${HOOK_URL}`)).code).toBe(0);

  const moved = await bench.run(`setup --webhook-url https://moved.example.com/ ${other}`);
  expect(moved.out).toContain('repaired for 3 groups');
  expect((await bench.run(`teardown --yes --confirm gitlab.example.com ${other}`)).code).toBe(0);
  expect(
    bench
      .state()
      .hooks.flat()
      .map(({ url }) => url),
  ).toEqual([10, 11, 12].map((id) => `${HOOK_URL}/${id}`));
  expect(bench.state().controllers).toMatchObject([{ description: 'tollgate' }]);
});

test('a webhook to the address without a group is replaced: each group has one, with a key of its own', async () => {
  const bench = setupBench({ administration: { groups: someGroups(3) } });
  for (const { id } of someGroups(3)) bench.local.groupHooks.make(id, { url: HOOK_URL, job_events: true });
  for (const again of ['repaired for 3 groups', '3 groups had theirs'])
    expect((await bench.run(SETUP)).out).toContain(again);
  const hooks = someGroups(3).flatMap(({ id }) => bench.local.groupHooks.of(id));
  expect(hooks.map(({ setting }) => setting.url)).toEqual([10, 11, 12].map((id) => `${HOOK_URL}/${id}`));
  expect(new Set(hooks.map(({ signingToken }) => signingToken)).size).toBe(3);
});

test('after the set-up the next command names a token file with a space in its path', async () => {
  const { out } = await setupBench().run(['setup', '--secrets', 'my folder']);
  expect(out).toContain("--token-file 'my folder/router-token' --proto");
});
