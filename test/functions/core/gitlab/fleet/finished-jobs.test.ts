import { expect, test } from 'vitest';
import { GitLabError } from '../../../../../functions/core/gitlab/gitlab.ts';
import {
  type FinishedJobsPage,
  finishedJobs,
  type JobsMark,
} from '../../../../../functions/core/gitlab/runners.ts';
import { fill, restBench } from '../rest-bench.ts';

const SPAN = {
  sinceMs: Date.parse('2026-09-01T00:00:00Z'),
  untilMs: Date.parse('2026-11-01T00:00:00Z'),
  pagesMax: 100,
  sleep: async () => {},
};

async function all(pages: AsyncIterable<FinishedJobsPage>): Promise<FinishedJobsPage[]> {
  const read: FinishedJobsPage[] = [];
  for await (const page of pages) read.push(page);
  return read;
}

const idsOf = (pages: readonly FinishedJobsPage[]): readonly number[] =>
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

test('a job the router refused did not run', async () => {
  const { local, gitlab } = restBench();
  local.create({ id: 1, projectId: 1, projectPath: 'a/b', name: 'x' });
  local.start(1, { id: 7 });
  local.end(1, { status: 'failed', failureReason: 'job_router_failure' });
  expect(idsOf(await all(finishedJobs(gitlab, [7], SPAN)))).toEqual([]);
});

test('stopped after any page, it goes on from there and reads each job once', async () => {
  const { local, gitlab } = restBench();
  fill(local, 250);
  fill2(local);
  const whole = idsOf(await all(finishedJobs(gitlab, [7, 8], SPAN)));
  for (let stopAfter = 1; stopAfter <= 4; stopAfter += 1) {
    const marks = new Map<number, JobsMark>();
    const read: FinishedJobsPage[] = [];
    let pages = 0;
    for await (const page of finishedJobs(gitlab, [7, 8], SPAN)) {
      read.push(page);
      pages += 1;
      marks.set(page.runnerId, page.next === undefined ? 'done' : { page: page.next, pages });
      if (pages === stopAfter) break;
    }
    read.push(...(await all(finishedJobs(gitlab, [7, 8], { ...SPAN, marks }))));
    expect(idsOf(read)).toEqual(whole);
  }
});

function fill2(local: ReturnType<typeof restBench>['local']): void {
  for (let id = 1_001; id <= 1_101; id += 1) {
    local.create({ id, projectId: 43, projectPath: 'shop/app', name: 'test' });
    local.start(id, { id: 8 });
    local.end(id, { status: 'success' });
  }
}

test('a runner with more jobs than pages are read is cut, and says so', async () => {
  const { local, gitlab } = restBench();
  fill(local, 250);
  const pages = await all(finishedJobs(gitlab, [7], { ...SPAN, pagesMax: 2 }));
  expect(pages.map(({ cut }) => cut)).toEqual([false, true]);
});

test('reading stops at the first page that is older than the span', async () => {
  const { local, gitlab } = restBench();
  fill(local, 250);
  const pages = await all(
    finishedJobs(gitlab, [7], { ...SPAN, sinceMs: Date.parse('2026-10-02T00:00:00Z') }),
  );
  expect([pages.length, idsOf(pages)]).toEqual([1, []]);
});

test('GitLab is waited for as long as it asks, and not for ever', async () => {
  const slept: number[] = [];
  const sleep = async (delayMs: number) => {
    slept.push(delayMs);
  };
  let refusals = 2;
  const gitlab = {
    listJobs: async () => {
      if (refusals-- > 0) throw new GitLabError('gitlab_rate_limited', 'slow down', { retryAfterMs: 7_000 });
      return { jobs: [] };
    },
  };
  expect(await all(finishedJobs(gitlab, [7], { ...SPAN, sleep }))).toHaveLength(1);
  expect(slept).toEqual([7_000, 7_000]);
  refusals = Number.POSITIVE_INFINITY;
  await expect(all(finishedJobs(gitlab, [7], { ...SPAN, sleep }))).rejects.toMatchObject({
    code: 'gitlab_rate_limited',
  });
});
