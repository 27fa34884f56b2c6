import { expect, test } from 'vitest';
import { createFleet } from '../../../../../functions/core/gitlab/runners.ts';
import { createLocalGitLab } from '../../../../../scripts/local/gitlab/local-gitlab.ts';
import { seededRandom } from '../../../../../scripts/local/random.ts';
import {
  DOCUMENTED_CREATION,
  DOCUMENTED_LIST,
  DOCUMENTED_MANAGERS,
  DOCUMENTED_RUNNER,
} from '../../../../scripts/local/gitlab/documented-examples.ts';
import { manualClock } from '../../../../support/ledger/test-clock.ts';

const TOKEN = 'glpat-a-token-nobody-may-see';

const client = (answer: typeof fetch) =>
  createFleet({
    baseUrl: 'https://gitlab.example.com',
    token: async () => TOKEN,
    fetch: answer,
    clock: manualClock(),
    random: () => 0.5,
  });

const answering =
  (body: unknown, status = 200): typeof fetch =>
  async () =>
    new Response(JSON.stringify(body), { status });

test('the documented answers are read whole', async () => {
  expect(await client(answering(DOCUMENTED_LIST)).listed({})).toEqual({
    runners: [
      { id: 1, description: 'shared-runner-1', type: 'instance_type', paused: false, status: 'online' },
      { id: 6, description: 'shared-runner-1', type: 'project_type', paused: false, status: 'paused' },
      { id: 8, description: 'shared-runner-1', type: 'group_type', paused: false, status: 'offline' },
    ],
  });
  expect(await client(answering(DOCUMENTED_RUNNER)).runner(6)).toMatchObject({
    tags: ['ruby', 'mysql'],
    maximumTimeoutSeconds: 3600,
    accessLevel: 'ref_protected',
    contactedAtMs: Date.parse('2016-01-25T16:39:48.066Z'),
    ownerIds: [1],
  });
  expect(await client(answering(DOCUMENTED_MANAGERS)).managers(1)).toEqual({
    managers: [
      {
        systemId: 's_89e5e9956577',
        version: '16.11.1',
        platform: 'linux',
        architecture: 'amd64',
        contactedAtMs: Date.parse('2024-06-09T06:30:09.355Z'),
        status: 'offline',
      },
    ],
  });
});

test('whether a runner has a creator tells how it was registered; an older GitLab tells nothing', async () => {
  const of = async (more: object) =>
    (await client(answering({ ...DOCUMENTED_RUNNER, ...more })).runner(6))?.createdBy;
  expect([await of({}), await of({ created_by: null }), await of({ created_by: { id: 5 } })]).toEqual([
    undefined,
    'token',
    'user',
  ]);
});

test('an entry that cannot be read is left out and counted; alone it is an error that names fields only', async () => {
  const odd = { ...DOCUMENTED_RUNNER, tag_list: 'secret-tag' };
  expect(await client(answering([odd, { id: 'x' }])).listed({})).toMatchObject({ unreadable: 1 });
  const failure = await client(answering(odd))
    .runner(6)
    .catch((error: unknown) => error);
  expect(failure).toMatchObject({ code: 'gitlab_unreadable', message: expect.stringContaining('tag_list') });
  expect(String(failure)).not.toContain('secret-tag');
});

test('all pages of a large fleet, and its managers', async () => {
  const local = createLocalGitLab({ random: seededRandom(1), token: TOKEN });
  for (let id = 1; id <= 250; id += 1)
    local.addRunner({ id, managers: [{ systemId: `s_${id}`, version: '18.9.0' }] });
  const fleet = client(local.fetch);
  const ids: number[] = [];
  let page: string | undefined;
  do {
    const got = await fleet.listed(page === undefined ? {} : { page });
    ids.push(...got.runners.map(({ id }) => id));
    page = got.next;
  } while (page !== undefined);
  expect(ids).toEqual(Array.from({ length: 250 }, (_, at) => at + 1));
  expect((await fleet.managers(250)).managers).toMatchObject([{ systemId: 's_250', platform: 'linux' }]);
  expect(await fleet.runner(251)).toBeUndefined();
});

test('a runner is made as its forerunner was, and paused', async () => {
  const local = createLocalGitLab({ random: seededRandom(1), token: TOKEN });
  local.addRunner({ id: 3 });
  const fleet = client(local.fetch);
  const created = await fleet.create({
    description: 'big',
    type: 'project_type',
    tags: ['linux'],
    runUntagged: true,
    locked: false,
    accessLevel: 'not_protected',
    maximumTimeoutSeconds: 3600,
    maintenanceNote: 'in place of 3',
    ownerId: 42,
  });
  expect(created).toMatchObject({ id: 4, token: expect.stringMatching(/^glrt-/) });
  expect(await fleet.runner(4)).toMatchObject({
    tags: ['linux'],
    runUntagged: true,
    maximumTimeoutSeconds: 3600,
    maintenanceNote: 'in place of 3',
    ownerIds: [42],
    createdBy: 'user',
  });
  await fleet.pause(3);
  expect(await fleet.runner(3)).toMatchObject({ paused: true });
});

test('a creation that GitLab refuses is told without its words, the token least of all', async () => {
  const runner = {
    description: '',
    type: 'instance_type',
    tags: [],
    runUntagged: true,
    locked: false,
    accessLevel: 'not_protected',
    maintenanceNote: '',
  } as const;
  expect(await client(answering(DOCUMENTED_CREATION, 201)).create(runner)).toEqual({
    id: DOCUMENTED_CREATION.id,
    token: DOCUMENTED_CREATION.token,
  });
  for (const [status, code] of [
    [403, 'gitlab_refused'],
    [429, 'gitlab_rate_limited'],
    [502, 'gitlab_unavailable'],
    [400, 'gitlab_unreadable'],
    [200, 'gitlab_unreadable'],
  ] as const) {
    const failure = await client(answering({ message: 'glrt-secret' }, status))
      .create(runner)
      .catch((error: unknown) => error);
    expect(failure).toMatchObject({ code });
    expect(String(failure)).not.toMatch(/glrt-|glpat-/);
  }
});
