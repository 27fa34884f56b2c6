import { expect, test } from 'vitest';
import { runnerDetails } from '../../../../functions/core/gitlab/cached-answers.ts';
import {
  byVersion,
  createFleet,
  type FleetRunner,
  fallsBack,
  finishedJobs,
  type RunnerManager,
  routerAccess,
} from '../../../../functions/core/gitlab/runners.ts';
import {
  DOCUMENTED_CREATION,
  DOCUMENTED_LIST,
  DOCUMENTED_MANAGERS,
  DOCUMENTED_RUNNER,
} from '../../../scripts/local/gitlab/documented-examples.ts';
import { manualClock } from '../../../support/ledger/test-clock.ts';
import { fill, restBench } from './rest-bench.ts';

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
        ...{ systemId: 's_89e5e9956577', version: '16.11.1', platform: 'linux', architecture: 'amd64' },
        ...{ contactedAtMs: Date.parse('2024-06-09T06:30:09.355Z'), status: 'offline' },
      },
    ],
  });
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

test('a creation that GitLab refuses is told without its words, the token least of all', async () => {
  const runner = { ...aRunner(1), maintenanceNote: '' };
  const { id, token } = DOCUMENTED_CREATION;
  expect(await client(answering(DOCUMENTED_CREATION, 201)).create(runner)).toEqual({ id, token });
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

interface Bench {
  readonly managers?: Readonly<Record<number, readonly RunnerManager[]>>;
  /** Thrown instead of an answer. */
  readonly failing?: (id: number) => Error | undefined;
  /** One call takes so long. */
  readonly takesMs?: number;
}

function bench({ managers = {}, failing = () => undefined, takesMs = 0 }: Bench = {}) {
  const clock = manualClock();
  const asked: number[] = [];
  const warnings: string[] = [];
  const fleet = {
    runner: async (id: number): Promise<FleetRunner | undefined> => {
      asked.push(id);
      clock.advance(takesMs);
      const error = failing(id);
      if (error !== undefined) throw error;
      return id > 900 ? undefined : aRunner(id);
    },
    managers: async (id: number) => ({ managers: managers[id] ?? [aManager('19.4.0')] }),
  };
  const log = { warn: (message: string) => void warnings.push(message) };
  return { clock, asked, warnings, details: runnerDetails({ fleet, clock, log }) };
}

const aRunner = (id: number): FleetRunner => ({
  ...{ id, description: `linux-${id}`, type: 'instance_type', paused: false, status: 'online', tags: [] },
  ...{ runUntagged: true, locked: false, accessLevel: 'not_protected', ownerIds: [] },
});

const aManager = (version?: string, status = 'online'): RunnerManager => ({
  ...{ systemId: 's_1', status },
  ...(version !== undefined && { version }),
});

const ids = (count: number): readonly number[] => Array.from({ length: count }, (_, index) => index + 1);

test('a version is that of the oldest manager that still works, as numbers; a runner that is gone has none', async () => {
  const { details } = bench({
    managers: {
      1: [aManager('19.4.0'), aManager('18.9.3'), aManager('18.10.0'), aManager('17.0.0', 'stale')],
      2: [aManager('17.0.0', 'stale')],
      3: [aManager()],
    },
  });
  expect(Object.fromEntries(await details([1, 2, 3, 901]))).toEqual({
    1: { description: 'linux-1', version: '18.9.3' },
    2: { description: 'linux-2', version: '17.0.0' },
    3: { description: 'linux-3' },
    901: {},
  });
});

test('a large fleet is learned a hundred runners at a time, and no answer waits for a slow GitLab', async () => {
  const quick = bench();
  expect((await quick.details(ids(250))).size).toBe(100);
  expect((await quick.details(ids(250))).size).toBe(200);
  const slow = bench({ takesMs: 1_000 });
  await slow.details(ids(250));
  expect(slow.asked.length).toBeLessThanOrEqual(8);
});

const SPAN = {
  sinceMs: Date.parse('2026-09-01T00:00:00Z'),
  untilMs: Date.parse('2026-11-01T00:00:00Z'),
  pagesMax: 100,
  sleep: async () => {},
};

type Page = ReturnType<typeof finishedJobs> extends AsyncGenerator<infer Each> ? Each : never;

async function all(pages: AsyncIterable<Page>): Promise<readonly Page[]> {
  const read: Page[] = [];
  for await (const page of pages) read.push(page);
  return read;
}

const idsOf = (pages: readonly Page[]): readonly number[] =>
  pages.flatMap(({ jobs }) => jobs.map(({ jobId }) => jobId));

test('every job that ran and ended, once, runner by runner; those that still run are left out', async () => {
  const { local, gitlab } = restBench();
  fill(local, 250);
  local.create({ id: 300, projectId: 1, projectPath: 'a/b', name: 'x' });
  local.start(300, { id: 8 });
  local.end(300, { status: 'failed' });
  const pages = await all(finishedJobs(gitlab, [7, 8, 9], SPAN));
  expect(pages.map(({ runnerId }) => runnerId)).toEqual([7, 7, 7, 8, 9]);
  expect(idsOf(pages)).toEqual([...Array.from({ length: 125 }, (_, at) => 249 - 2 * at), 300]);
});

test('a runner with more jobs than pages are read is cut, and says so', async () => {
  const { local, gitlab } = restBench();
  fill(local, 250);
  const pages = await all(finishedJobs(gitlab, [7], { ...SPAN, pagesMax: 2 }));
  expect(pages.map(({ cut }) => cut)).toEqual([false, true]);
});

test.each([
  ['17.11.3', 'none'],
  ['18.8.9', 'none'],
  ['v18.9.0', 'environment'],
  ['18.10.1', 'environment'],
  ['18.11.0~pre.41.gabc', 'feature_flag'],
  ['19.4.0', 'feature_flag'],
  ['100.0.0', 'feature_flag'],
  ['development', 'unknown'],
  ['', 'unknown'],
  [undefined, 'unknown'],
])('a runner of version %s reaches the job router: %s', (version, support) => {
  expect(routerAccess(version)).toBe(support);
});

test('versions are compared as numbers, and from 19.2 on a runner falls back', () => {
  expect(['19.0.0', '18.9.0', '18.10.2'].sort(byVersion)).toEqual(['18.9.0', '18.10.2', '19.0.0']);
  expect(['19.1.9', '19.2.0', 'development', undefined].map(fallsBack)).toEqual([false, true, false, false]);
});
