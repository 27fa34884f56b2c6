import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type GitLabJob, JOB_STATUSES } from '../../../../functions/core/gitlab/gitlab.ts';
import { parseJobHook, readGitLabInstant } from '../../../../functions/core/gitlab/job-reader.ts';
import { aJobHook } from '../../../support/job-hook-bodies.ts';

const truthOf = (changes: Readonly<Record<string, unknown>>) => parseJobHook(aJobHook(changes));

test('a delivery says what the ledger needs to settle the job', () => {
  expect(truthOf({})).toEqual({
    jobId: 1977,
    projectId: 380,
    status: 'success',
    projectPath: 'shop/web/storefront',
    jobName: 'unit-tests',
    jobStage: 'test',
    pipelineId: 2366,
    userId: 3,
    ref: 'main',
    runnerId: 380987,
    runnerTags: ['linux', 'docker'],
    createdAtMs: Date.parse('2024-06-11T03:12:00Z'),
    startedAtMs: Date.parse('2024-06-11T03:13:06Z'),
    finishedAtMs: Date.parse('2024-06-11T03:15:06Z'),
    durationSeconds: 119.871,
    retryCount: 0,
    queuedSeconds: 1.2,
    failureReason: 'unknown_failure',
  });
});

const FINISHED = { finishedAtMs: Date.parse('2024-06-11T03:15:06Z') };
const OLD = { build_finished_at_iso: undefined, build_started_at_iso: undefined };

test.each<[string, object, object]>([
  ['versions without _iso times are read by the other spelling', OLD, FINISHED],
  ['of two spellings the ISO one counts', { build_finished_at: '2024-06-11 05:15:06 UTC' }, FINISHED],
  ['an unreadable ISO time does not hide the readable one', { build_finished_at_iso: 'soon' }, FINISHED],
  ['commit.id stands in for a missing pipeline id', { pipeline_id: undefined }, { pipelineId: 2366 }],
  ['an environment is an object', { environment: { name: 'production' } }, { environment: 'production' }],
  ['an environment is a text', { environment: 'staging' }, { environment: 'staging' }],
  ['a negative duration earns nothing', { build_duration: -3.2 }, { durationSeconds: 0 }],
  ['a reason', { build_failure_reason: 'job_router_failure' }, { failureReason: 'job_router_failure' }],
  [
    'a label of the wrong kind does not keep a job from being settled',
    { build_name: 7, ref: {}, environment: 3, project: 'gone', runner: { id: 5, tags: ['a', 1] } },
    { jobId: 1977, runnerId: 5, runnerTags: ['a'] },
  ],
])('%s', (_, changes, expected) => {
  expect(parseJobHook(aJobHook({ ...changes }))).toMatchObject(expected);
});

test.each([null, undefined, '3', '', -1, Number.NaN, Number.POSITIVE_INFINITY, 1e300, {}, [1], true])(
  'retries and a queue of %o are unknown, and the job settles all the same',
  (odd) => {
    const gitlabJob = truthOf({ retries_count: odd, build_queued_duration: odd });
    expect(gitlabJob).toMatchObject({ jobId: 1977, status: 'success', durationSeconds: 119.871 });
    expect(gitlabJob).not.toHaveProperty('retryCount');
    expect(gitlabJob).not.toHaveProperty('queuedSeconds');
  },
);

test.each<[object, RegExp]>([
  [[1], /body is not a JSON object/],
  [aJobHook({ object_kind: 'push' }), /object_kind is not "build"/],
  [aJobHook({ build_id: undefined }), /build_id is missing/],
  [aJobHook({ build_id: '1977' }), /build_id is of type string/],
  [aJobHook({ build_id: 2 ** 53 }), /build_id is 9007199254740992/],
  [aJobHook({ project_id: 0 }), /project_id is 0/],
  [aJobHook({ build_status: 'dreaming' }), /build_status is of type string/],
  [aJobHook({ build_duration: '1e3' }), /build_duration is of type string/],
  [
    aJobHook({ build_finished_at_iso: 'soon', build_finished_at: 7 }),
    /build_finished_at_iso is of type string; expected a time/,
  ],
  [aJobHook({ runner: { id: 'x' } }), /runner\.id is of type string/],
])('a delivery is refused, and it says why: %#', (body, problem) => {
  const result = parseJobHook(body);
  expect('problems' in result && result.problems.join('\n')).toMatch(problem);
});

test.each([
  ['2024-06-11 03:13:06 UTC', '2024-06-11T03:13:06.000Z'],
  ['2024-06-11T03:13:06.123456Z', '2024-06-11T03:13:06.123Z'],
  ['2024-06-11T05:13:06+02:00', '2024-06-11T03:13:06.000Z'],
  ['2024-06-10 22:13:06 -0500', '2024-06-11T03:13:06.000Z'],
  ['2024-02-29 23:59:59 UTC', '2024-02-29T23:59:59.000Z'],
])('%s is read as the instant it names', (text, expected) => {
  expect(new Date(readGitLabInstant(text) ?? Number.NaN).toISOString()).toBe(expected);
});

test.each([
  '',
  '2024-06-11 03:13:06',
  '2023-02-29 00:00:00 UTC',
  '2024-00-10 00:00:00 UTC',
  '2024-06-11 25:00:00 UTC',
  ' 2024-06-11 03:13:06 UTC',
])('%j is no instant rather than a wrong one', (text) => {
  expect(readGitLabInstant(text)).toBeUndefined();
});

const KEYS = Object.keys(aJobHook());
const SECRET = 'glpat-a-secret-that-went-astray';

/** A true delivery with some keys replaced by anything, `undefined` included. */
const damaged = fc
  .dictionary(
    fc.constantFrom(...KEYS),
    fc.oneof(fc.jsonValue(), fc.double(), fc.constant(undefined), fc.constantFrom(...JOB_STATUSES)),
    { maxKeys: 6 },
  )
  .map((changes) => aJobHook(changes));

test('any JSON is a truth whose figures can be counted, or problems', () => {
  fc.assert(
    fc.property(fc.oneof(damaged, fc.jsonValue()), (body) => {
      const result = parseJobHook(body);
      if ('problems' in result) expect(result.problems.length).toBeGreaterThan(0);
      else expectCountable(result);
    }),
    { numRuns: 2_000 },
  );
});

test('no problem quotes a text', () => {
  fc.assert(
    fc.property(fc.subarray(KEYS, { minLength: 1 }), (keys) => {
      const result = parseJobHook(aJobHook(Object.fromEntries(keys.map((key) => [key, SECRET]))));
      if ('problems' in result) expect(result.problems.join()).not.toContain(SECRET);
    }),
  );
});

function expectCountable(gitlabJob: GitLabJob): void {
  for (const id of [gitlabJob.jobId, gitlabJob.projectId])
    expect(Number.isSafeInteger(id) && id > 0).toBe(true);
  expect(JOB_STATUSES).toContain(gitlabJob.status);
  for (const id of [gitlabJob.pipelineId, gitlabJob.userId, gitlabJob.runnerId]) {
    if (id !== undefined) expect(Number.isSafeInteger(id) && id > 0).toBe(true);
  }
  for (const atMs of [gitlabJob.createdAtMs, gitlabJob.startedAtMs, gitlabJob.finishedAtMs]) {
    if (atMs !== undefined) expect(Number.isSafeInteger(atMs)).toBe(true);
  }
  if (gitlabJob.durationSeconds !== undefined) {
    expect(Number.isFinite(gitlabJob.durationSeconds) && gitlabJob.durationSeconds >= 0).toBe(true);
  }
  const { retryCount = 0, queuedSeconds = 0 } = gitlabJob;
  expect(Number.isSafeInteger(retryCount) && retryCount >= 0).toBe(true);
  expect(queuedSeconds >= 0 && queuedSeconds <= 31 * 86_400).toBe(true);
  for (const value of Object.values(gitlabJob)) expect(value).not.toBeUndefined();
}
