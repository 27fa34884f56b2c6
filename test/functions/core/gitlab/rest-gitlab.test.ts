import { expect, test } from 'vitest';
import type { JobsPage } from '../../../../functions/core/gitlab/gitlab.ts';
import type { RestCallDeps } from '../../../../functions/core/gitlab/rest-call.ts';
import { fill, restBench, TOKEN } from './rest-bench.ts';

const json = (body: unknown, init: ResponseInit = {}): Response => new Response(JSON.stringify(body), init);
const answering = (response: () => Response): Partial<RestCallDeps> => ({ fetch: async () => response() });

test('a job is what GitLab says of it', async () => {
  const { local, gitlab } = restBench();
  local.create({ id: 5, projectId: 42, projectPath: 'shop/web', name: 'build', pipelineId: 9, userId: 3 });
  local.start(5, { id: 7, tags: ['linux'] });
  local.end(5, { status: 'failed', failureReason: 'runner_system_failure' });
  const atMs = Date.parse('2026-10-01T00:00:00Z');
  expect(await gitlab.job(42, 5)).toEqual({
    jobId: 5,
    projectId: 42,
    status: 'failed',
    jobName: 'build',
    jobStage: 'test',
    pipelineId: 9,
    userId: 3,
    ref: 'main',
    runnerId: 7,
    createdAtMs: atMs,
    startedAtMs: atMs,
    finishedAtMs: atMs,
    durationSeconds: 0,
    queuedSeconds: 0,
    failureReason: 'runner_system_failure',
  });
});

/** More pages than any test has. */
const PAGES_MAX = 20;

async function allPages(ask: (page: string | undefined) => Promise<JobsPage>): Promise<number[][]> {
  const pages: number[][] = [];
  let page: string | undefined;
  for (let turn = 0; turn < PAGES_MAX; turn += 1) {
    const got = await ask(page);
    pages.push(got.jobs.map(({ jobId }) => jobId));
    page = got.next;
    if (page === undefined) break;
  }
  return pages;
}

test.each([
  { list: 'runners/7', versions: 'with keyset pages', refuseKeyset: false },
  { list: 'projects/42', versions: 'without keyset pages', refuseKeyset: true },
] as const)('every job of $list comes once, newest first, from versions $versions', async (one) => {
  const { local, gitlab } = restBench();
  local.faults.refuseKeyset = one.refuseKeyset;
  fill(local, 250);
  const pages = await allPages((page) => gitlab.listJobs(one.list, page === undefined ? {} : { page }));
  expect(pages.map((jobs) => jobs.length)).toEqual([100, 100, 50]);
  expect(pages.flat()).toEqual(Array.from({ length: 250 }, (_, at) => 250 - at));
});

test.each(['runners/7', 'projects/42'] as const)(
  'jobs of %s that end between two pages of running jobs hide no other',
  async (list) => {
    const { local, gitlab } = restBench();
    fill(local, 300);
    const first = await gitlab.listJobs(list, { status: 'running' });
    for (let id = 202; id <= 300; id += 2) local.end(id, { status: 'success' });
    const second = await gitlab.listJobs(list, { status: 'running', page: first.next ?? '' });
    const seen = [...first.jobs, ...second.jobs].map(({ jobId }) => jobId);
    expect(seen).toEqual(Array.from({ length: 150 }, (_, at) => 300 - 2 * at));
  },
);

test('an entry that cannot be read is counted and hides no other', async () => {
  const good = { id: 1, status: 'running', project: { id: 42 } };
  const body = [good, { ...good, id: 2, status: 'dreaming' }, 'x', { id: 3, status: 'running' }];
  const page = await restBench(answering(() => json(body))).gitlab.listJobs('runners/7', {});
  expect(page.jobs.map(({ jobId }) => jobId)).toEqual([1]);
  expect(page.unreadable).toBe(3);
});

test('a call that gets no answer is given up after its timeout', async () => {
  const { local, gitlab } = restBench({ timeoutMs: 20 });
  local.faults.answerRest('stall', Number.POSITIVE_INFINITY);
  await expect(gitlab.job(42, 1)).rejects.toMatchObject({ code: 'gitlab_unavailable' });
});

test.each([
  { header: '30', expectedMs: 30_000 },
  { header: 'Thu, 01 Oct 2026 00:01:00 GMT', expectedMs: 60_000 },
  { header: '999999999', expectedMs: 3_600_000 },
  { header: 'later', expectedMs: undefined },
])(
  '429 with Retry-After $header is not tried again and says how long to wait',
  async ({ header, expectedMs }) => {
    let calls = 0;
    const { gitlab } = restBench(
      answering(() => {
        calls += 1;
        return new Response('Retry later', { status: 429, headers: { 'retry-after': header } });
      }),
    );
    await expect(gitlab.runners({})).rejects.toMatchObject({
      code: 'gitlab_rate_limited',
      retryAfterMs: expectedMs,
    });
    expect(calls).toBe(1);
  },
);

test.each([
  { what: '401', response: () => json({ message: TOKEN }, { status: 401 }), code: 'gitlab_refused' },
  { what: 'no JSON', response: () => new Response(`<html>${TOKEN}`), code: 'gitlab_unreadable' },
  { what: 'no list', response: () => json({ token: TOKEN }), code: 'gitlab_unreadable' },
  {
    what: 'a redirect',
    response: () => new Response(null, { status: 302, headers: { location: `https://elsewhere/${TOKEN}` } }),
    code: 'gitlab_unreadable',
  },
  { what: '404 for a list', response: () => json({}, { status: 404 }), code: 'gitlab_unreadable' },
  { what: '400', response: () => json({ error: TOKEN }, { status: 400 }), code: 'gitlab_unreadable' },
])('$what is $code and quotes nothing', async ({ response, code }) => {
  const error = await restBench(answering(response))
    .gitlab.runners({})
    .catch((thrown: unknown) => thrown);
  expect(error).toMatchObject({ code });
  expect(`${error} ${(error as Error).cause}`).not.toContain(TOKEN);
});

test('a job that cannot be read names the field and not its text', async () => {
  const { gitlab } = restBench(answering(() => json({ id: 5, status: TOKEN })));
  await expect(gitlab.job(42, 5)).rejects.toThrow(
    `[gitlab_unreadable] GET /projects/42/jobs/5: not as documented: status`,
  );
});

test('a link to another host does not take the token there', async () => {
  const asked: string[] = [];
  const { gitlab } = restBench({
    fetch: async (input) => {
      asked.push(String(input));
      return json([], {
        headers: { link: '<https://evil.example/api/v4/runners/7/jobs?cursor=abc>; rel="next"' },
      });
    },
  });
  const { next } = await gitlab.listJobs('runners/7', {});
  await gitlab.listJobs('runners/7', { page: next ?? '' });
  const [, second = ''] = asked;
  expect(new URL(second).host).toBe('gitlab.localhost');
  expect(new URL(second).searchParams.get('cursor')).toBe('abc');
});

test.each(['gitlab.example.com', 'ftp://gitlab.example.com', 'https://me:secret@gitlab.example.com'])(
  '%s is no address to send a token to',
  (baseUrl) => {
    expect(() => restBench({ baseUrl })).toThrow(/no plain http or https address/);
    expect(() => restBench({ baseUrl })).not.toThrow(/secret/);
  },
);
