import { expect, test } from 'vitest';
import { groupHookKey } from '../../../functions/core/gitlab/group-hooks.ts';
import { makeHooks } from '../../../functions/directory-sync/make-hooks.ts';
import { handClock } from '../../../scripts/local/clock.ts';
import { createLocalGitLab } from '../../../scripts/local/gitlab/local-gitlab.ts';
import type { GitLabVersion } from '../../../scripts/local/gitlab/webhooks.ts';
import { seededRandom } from '../../../scripts/local/random.ts';

const URL_OF_HOOKS = 'https://hooks.example.com/webhook';
const SECRET = `whsec_${Buffer.alloc(32, 5).toString('base64')}`;

function bench(groups: number, options: { readonly secret?: string; readonly version?: GitLabVersion } = {}) {
  const clock = handClock(Date.parse('2026-11-21T12:00:00Z'));
  const rootIds = Array.from({ length: groups }, (_, at) => at + 1);
  const local = createLocalGitLab({
    clock,
    random: seededRandom(1),
    token: 'glpat-admin',
    version: options.version ?? '19.4',
    administration: { groups: rootIds.map((id) => ({ id, path: `team-${id}` })), disablesHooks: true },
    deliver: async () => new Response(null, { status: 500 }),
  });
  const logged: { readonly level: string; readonly text: string; readonly fields: unknown }[] = [];
  const log = Object.fromEntries(
    ['info', 'warn', 'error'].map((level) => [
      level,
      (text: string, fields: unknown) => logged.push({ level, text, fields }),
    ]),
  ) as unknown as Parameters<typeof makeHooks>[1]['log'];
  const deps = {
    baseUrl: 'https://gitlab.example.com',
    token: async () => 'glpat-admin',
    fetch: local.fetch,
    clock,
  };
  const { secret = SECRET } = options;
  const tokens = { reading: deps, making: deps, secrets: async () => [secret] };
  const run = () => makeHooks(rootIds, { url: URL_OF_HOOKS, ...tokens, nowMs: clock.nowMs(), log });
  return { local, clock, logged, run, rootIds };
}

test('every group has its webhook within an hour, a new one with the next run, and none twice', async () => {
  const { local, clock, logged, run, rootIds } = bench(200);
  await run();
  expect(rootIds.slice(-5).map((id) => local.groupHooks.of(id).length)).toEqual([1, 1, 1, 1, 1]);
  for (let minutes = 5; minutes <= 60; minutes += 5) {
    clock.advance(300_000);
    await run();
  }
  expect(rootIds.filter((id) => local.groupHooks.of(id).length !== 1)).toEqual([]);
  expect(local.groupHooks.of(7)[0]).toMatchObject({
    signingToken: groupHookKey(SECRET, 7),
    setting: { url: `${URL_OF_HOOKS}/7`, job_events: true, push_events: false },
  });
  expect(logged.filter(({ level }) => level !== 'info')).toEqual([]);
  expect(JSON.stringify(logged)).not.toContain(SECRET);
});

test('a GitLab that cannot sign gets a secret token of the group', async () => {
  const { local, run } = bench(2, { secret: 'a-secret-token', version: '18.9' });
  await run();
  expect([1, 2].map((id) => local.groupHooks.of(id)[0]?.token)).toEqual(
    [1, 2].map((id) => groupHookKey('a-secret-token', id)),
  );
});

test('a group with a webhook to the address without a group gets no second one', async () => {
  const { local, run } = bench(1);
  local.groupHooks.make(1, { url: URL_OF_HOOKS, job_events: true });
  await run();
  expect(local.groupHooks.of(1)).toHaveLength(1);
});

test('a GitLab that is down is told of, and the run goes on', async () => {
  const { local, logged, run } = bench(3);
  local.faults.answerRest({ status: 403 });
  await run();
  expect(logged).toMatchObject([{ level: 'warn', text: 'webhooks could not be made' }]);
});
