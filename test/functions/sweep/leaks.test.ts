/** Every way a hold can leak (FEATURES §4.5), and that the sweep ends it in what GitLab says. */
import { expect, test } from 'vitest';
import { GitLabError } from '../../../functions/core/gitlab/gitlab.ts';
import { anAsk, claim, counter, someFacts } from '../../support/ledger/asks.ts';
import { DUE_MS, house, MINUTE_MS, range } from './house.ts';

test('webhook off for 3 days: every hold settles at GitLab’s duration, in lists of a hundred', async () => {
  const { clock, gitlab, hold, sweep, finished, spent, slots, ledger } = house();
  const jobIds = range(1, 1_000);
  await hold(jobIds);
  gitlab.put(...jobIds.map((jobId) => finished(jobId, 30)));
  clock.advance(72 * 3_600_000);
  const report = await sweep();
  expect(report).toMatchObject({ due: 1_000, settled: 1_000, gitlabSilent: false, cutShort: false });
  expect([await spent(), await slots()]).toEqual([30_000, 0]);
  // Ten pages of their project, and the search for jobs without admission.
  expect(gitlab.calls).toMatchObject({ job: 0, recent: 11 });
  expect((await ledger.rebuild({ repair: false })).drift).toEqual([]);
});

test.each([
  ['runner_provisioning_timeout', { status: 'failed', failureReason: 'runner_provisioning_timeout' }],
  ['stuck before a runner came', { status: 'failed', failureReason: 'stuck_or_timeout_failure' }],
  ['canceled before the start', { status: 'canceled' }],
  ['skipped', { status: 'skipped' }],
] as const)('%s: nothing ran, the hold goes back whole', async (_, ended) => {
  const { clock, gitlab, hold, sweep, states, spent, slots } = house();
  await hold([1]);
  gitlab.put({ jobId: 1, projectId: 1, ...ended });
  clock.advance(3 * MINUTE_MS);
  expect(await sweep()).toMatchObject({ released: 1, settled: 0 });
  expect([await states(1), await spent(), await slots()]).toEqual([['RELEASED'], 0, 0]);
});

test('rejected by another controller after our admission: released, though GitLab shows a start and a duration', async () => {
  const { clock, gitlab, hold, sweep, states, spent, finished } = house();
  await hold([1]);
  gitlab.put(finished(1, 2, { status: 'failed', failureReason: 'job_router_failure' }));
  clock.advance(3 * MINUTE_MS);
  expect(await sweep()).toMatchObject({ released: 1, settled: 0, bypass: 0 });
  expect([await states(1), await spent()]).toEqual([['RELEASED'], 0]);
});

test.each([
  ['nothing', 0],
  ['hold', 60],
] as const)(
  'project deleted (404): expires once due, and by setting is charged %s',
  async (chargeUnknown, charge) => {
    const { clock, hold, sweep, states, spent, slots } = house({ chargeUnknown });
    await hold([1]);
    clock.advance(3 * MINUTE_MS);
    expect(await sweep()).toMatchObject({ verified: 1, expired: 0 });
    expect(await states(1)).toEqual(['HELD']);
    clock.advance(DUE_MS);
    expect(await sweep()).toMatchObject({ expired: 1 });
    expect([await states(1), await spent(), await slots()]).toEqual([['EXPIRED'], charge, 0]);
  },
);

test('a token that may not list runners may not see the job either: its 404 frees nothing, until the token is mended', async () => {
  const { clock, gitlab, hold, sweep, states, slots } = house();
  await hold([1]);
  gitlab.fail = (call) =>
    call === 'runners' ? new GitLabError('gitlab_refused', 'GET /runners/all: 403') : undefined;
  clock.advance(DUE_MS + MINUTE_MS);
  expect(await sweep()).toMatchObject({ expired: 0, unaskable: 1, postponed: 1 });
  expect([await states(1), await slots()]).toEqual([['HELD'], 1]);
  gitlab.fail = () => undefined;
  clock.advance(61 * MINUTE_MS);
  expect(await sweep()).toMatchObject({ expired: 1 });
  expect(await slots()).toBe(0);
});

test('API token expired: nothing is freed, the run stops after a few tries and says so, and later all is made good', async () => {
  const { clock, gitlab, hold, sweep, finished, spent, slots } = house();
  const jobIds = range(1, 200);
  await hold(jobIds);
  gitlab.put(...jobIds.map((jobId) => finished(jobId, 10)));
  gitlab.fail = () => new GitLabError('gitlab_refused', 'GET /projects/1/jobs/1: 401');
  clock.advance(DUE_MS + MINUTE_MS);
  const report = await sweep();
  expect(report).toMatchObject({ gitlabSilent: true, settled: 0, released: 0, expired: 0, verified: 0 });
  expect(report.errors.gitlab_refused).toBe(report.calls);
  // What was under way at once when the fifth failed may still fail.
  expect(report.calls).toBeLessThanOrEqual(20);
  expect([await spent(), await slots()]).toEqual([200 * 60, 200]);
  clock.advance(MINUTE_MS);
  expect((await sweep()).oldestDueAgeMs).toBeGreaterThanOrEqual(2 * MINUTE_MS - 1_000);
  gitlab.fail = () => undefined;
  clock.advance(15 * MINUTE_MS);
  expect(await sweep()).toMatchObject({ settled: 200, gitlabSilent: false });
  expect([await spent(), await slots()]).toEqual([2_000, 0]);
});

test('GitLab asks for patience: nobody calls it before that time, not even the next run', async () => {
  const { clock, gitlab, hold, sweep, finished } = house();
  await hold([1]);
  gitlab.put(finished(1, 10));
  gitlab.fail = () => new GitLabError('gitlab_rate_limited', '429', { retryAfterMs: 5 * MINUTE_MS });
  clock.advance(DUE_MS + 1_000);
  expect(await sweep()).toMatchObject({ calls: 1, gitlabSilent: true });
  gitlab.fail = () => undefined;
  clock.advance(4 * MINUTE_MS);
  expect(await sweep()).toMatchObject({ calls: 0, gitlabSilent: true });
  clock.advance(MINUTE_MS);
  expect(await sweep()).toMatchObject({ settled: 1, gitlabSilent: false });
});

test('one job GitLab cannot show does not stop the others, and steps behind them', async () => {
  const { clock, gitlab, hold, sweep, finished, states } = house();
  for (const jobId of [1, 2, 3]) {
    await hold([jobId], { projectId: jobId });
    gitlab.put(finished(jobId, 10, { runnerId: jobId, projectId: jobId }));
  }
  gitlab.fail = (call, id) =>
    call === 'job' && id === 1 ? new GitLabError('gitlab_unreadable', 'job 1: no status') : undefined;
  clock.advance(DUE_MS + 1_000);
  expect(await sweep()).toMatchObject({ settled: 2, postponed: 1, gitlabSilent: false });
  clock.advance(MINUTE_MS);
  expect(await sweep()).toMatchObject({ due: 0 });
  expect(await states(1, 2, 3)).toEqual(['HELD', 'SETTLED', 'SETTLED']);
});

test('a hold without a project is never freed unasked: it is counted, and found on a list of its runner', async () => {
  const { clock, gitlab, hold, sweep, finished, states } = house();
  await hold([1], { projectId: undefined });
  await hold([2, 3], { projectId: undefined, runnerId: 7 });
  gitlab.put(...[2, 3].map((jobId) => finished(jobId, 10)));
  clock.advance(DUE_MS + 1_000);
  expect(await sweep()).toMatchObject({ settled: 2, unaskable: 1, released: 0, expired: 0 });
  expect(await states(1, 2, 3)).toEqual(['HELD', 'SETTLED', 'SETTLED']);
});

test('room that was kept for a retried job goes back when nobody asked in time, and GitLab is not asked for it', async () => {
  const { clock, gitlab, sweep, states, slots, ledger } = house();
  const key = counter('group/1', 'slots', 'now');
  const full = claim('group/1', 1, 0, { counter: key, unit: 'jobs' });
  const facts = someFacts({ projectId: 1, pipelineId: 7 });
  const asks = [1, 2].map((jobId) => anAsk(jobId, [full], { facts }));
  await ledger.hold(asks, clock.monotonicMs() + 30_000);
  const claims = [{ ...full, bound: 2 }];
  for (const jobId of [1, 2])
    await ledger.reserve({ jobId, claims, untilMs: clock.nowMs() + jobId * 3 * MINUTE_MS });
  await ledger.handOver(1, 3);
  clock.advance(4 * MINUTE_MS);
  await sweep();
  // The run that kept room for job 2 died: its time comes, too.
  expect([await states(1, 2, 3), await slots()]).toEqual([['REJECTED', 'REJECTED', 'RELEASED'], 1]);
  clock.advance(3 * MINUTE_MS);
  await sweep();
  expect(await slots()).toBe(0);
  expect(gitlab.calls).toMatchObject({ job: 0 });
  expect(await ledger.dueJobs(Number.MAX_SAFE_INTEGER, 10)).toEqual([]);
  expect((await ledger.rebuild({ repair: false })).drift).toEqual([]);
});
