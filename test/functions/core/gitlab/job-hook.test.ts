import fc from 'fast-check';
import { expect, test } from 'vitest';
import { JOB_STATUSES, type JobTruth } from '../../../../functions/core/gitlab/gitlab.ts';
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

test.each(JOB_STATUSES)('status %s is known', (status) => {
  expect(truthOf({ build_status: status })).toMatchObject({ status });
});

const OLD = { build_finished_at_iso: undefined, build_started_at_iso: undefined };

test.each([
  {
    fact: 'versions without _iso times are read by the other spelling',
    changes: OLD,
    expected: { finishedAtMs: Date.parse('2024-06-11T03:15:06Z') },
  },
  {
    fact: 'of two spellings the ISO one counts',
    changes: { build_finished_at: '2024-06-11 05:15:06 UTC' },
    expected: { finishedAtMs: Date.parse('2024-06-11T03:15:06Z') },
  },
  {
    fact: 'an unreadable ISO time does not hide the readable one',
    changes: { build_finished_at_iso: 'soon' },
    expected: { finishedAtMs: Date.parse('2024-06-11T03:15:06Z') },
  },
  {
    fact: 'commit.id stands in for a missing pipeline id',
    changes: { pipeline_id: undefined },
    expected: { pipelineId: 2366 },
  },
  {
    fact: 'an environment is named by its object',
    changes: { environment: { name: 'production', action: 'start' } },
    expected: { environment: 'production' },
  },
  {
    fact: 'an environment is named by a text',
    changes: { environment: 'staging' },
    expected: { environment: 'staging' },
  },
  {
    fact: 'a negative duration earns nothing',
    changes: { build_duration: -3.2 },
    expected: { durationSeconds: 0 },
  },
  {
    fact: 'a rejection is told by its reason',
    changes: { build_status: 'failed', build_failure_reason: 'job_router_failure' },
    expected: { status: 'failed', failureReason: 'job_router_failure' },
  },
  {
    fact: 'a label of the wrong kind does not keep a job from being settled',
    changes: { build_name: 7, ref: {}, environment: 3, project: 'gone', runner: { id: 5, tags: ['a', 1] } },
    expected: { jobId: 1977, runnerId: 5, runnerTags: ['a'] },
  },
])('$fact', ({ changes, expected }) => {
  expect(truthOf(changes)).toMatchObject(expected);
});

test.each([null, undefined, '3', '', -1, Number.NaN, Number.POSITIVE_INFINITY, 1e300, {}, [1], true])(
  'retries and a queue of %o are unknown, and the job settles all the same',
  (odd) => {
    const truth = truthOf({ retries_count: odd, build_queued_duration: odd });
    expect(truth).toMatchObject({ jobId: 1977, status: 'success', durationSeconds: 119.871 });
    expect(truth).not.toHaveProperty('retryCount');
    expect(truth).not.toHaveProperty('queuedSeconds');
  },
);

test('a part of a retry is none, and no queue is one of 0', () => {
  const truth = truthOf({ retries_count: 0.5, build_queued_duration: 0 });
  expect(truth).toMatchObject({ queuedSeconds: 0 });
  expect(truth).not.toHaveProperty('retryCount');
  expect(truthOf({ retries_count: 3 })).toMatchObject({ retryCount: 3 });
});

test('what a job does not have yet is absent', () => {
  const truth = truthOf({
    build_status: 'created',
    runner: null,
    user: null,
    ...OLD,
    build_started_at: null,
    build_finished_at: null,
    build_duration: null,
  });
  for (const name of [
    'runnerId',
    'userId',
    'startedAtMs',
    'finishedAtMs',
    'durationSeconds',
    'environment',
  ]) {
    expect(truth).not.toHaveProperty(name);
  }
});

test.each([
  { fact: 'not an object', body: [1], problem: /body is not a JSON object/ },
  { fact: 'another event', body: aJobHook({ object_kind: 'push' }), problem: /object_kind is not "build"/ },
  { fact: 'no job id', body: aJobHook({ build_id: undefined }), problem: /build_id is missing/ },
  { fact: 'a job id as text', body: aJobHook({ build_id: '1977' }), problem: /build_id is a text of 4/ },
  {
    fact: 'a job id past 2^53',
    body: aJobHook({ build_id: 2 ** 53 }),
    problem: /build_id is 9007199254740992/,
  },
  { fact: 'project id 0', body: aJobHook({ project_id: 0 }), problem: /project_id is 0/ },
  {
    fact: 'a new status',
    body: aJobHook({ build_status: 'dreaming' }),
    problem: /build_status is a text of 8/,
  },
  {
    fact: 'a duration as text',
    body: aJobHook({ build_duration: '1e3' }),
    problem: /build_duration is a text/,
  },
  {
    fact: 'no readable time',
    body: aJobHook({ build_finished_at_iso: 'soon', build_finished_at: 7 }),
    problem: /build_finished_at_iso is a text of 4 characters; expected a time/,
  },
  {
    fact: 'a runner that is a number',
    body: aJobHook({ runner: 5 }),
    problem: /runner is 5; expected an object/,
  },
  { fact: 'a runner id as text', body: aJobHook({ runner: { id: 'x' } }), problem: /runner\.id is a text/ },
])('refuses $fact and says why', ({ body, problem }) => {
  const result = parseJobHook(body);
  expect('problems' in result && result.problems.join('\n')).toMatch(problem);
});

test('every problem is told at once', () => {
  const result = truthOf({ build_id: null, build_status: 'x', build_duration: {} });
  expect('problems' in result && result.problems).toHaveLength(3);
});

test.each([
  ['2024-06-11 03:13:06 UTC', '2024-06-11T03:13:06.000Z'],
  ['2024-06-11T03:13:06Z', '2024-06-11T03:13:06.000Z'],
  ['2024-06-11T03:13:06.5Z', '2024-06-11T03:13:06.500Z'],
  ['2024-06-11T03:13:06.123456Z', '2024-06-11T03:13:06.123Z'],
  ['2024-06-11T05:13:06+02:00', '2024-06-11T03:13:06.000Z'],
  ['2024-06-10 22:13:06 -0500', '2024-06-11T03:13:06.000Z'],
  ['2024-06-11T17:13:06+14:00', '2024-06-11T03:13:06.000Z'],
  ['2024-02-29 23:59:59 UTC', '2024-02-29T23:59:59.000Z'],
])('%s is read as the instant it names', (text, expected) => {
  expect(new Date(readGitLabInstant(text) ?? Number.NaN).toISOString()).toBe(expected);
});

test.each([
  '',
  'yesterday',
  '2024-06-11',
  '2024-06-11 03:13:06',
  '2023-02-29 00:00:00 UTC',
  '2024-13-01 00:00:00 UTC',
  '2024-00-10 00:00:00 UTC',
  '2024-06-11 24:00:00 UTC',
  '2024-06-11 03:60:06 UTC',
  '2024-06-11T03:13:06+15:00',
  '0024-06-11 03:13:06 UTC',
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

function expectCountable(truth: JobTruth): void {
  for (const id of [truth.jobId, truth.projectId]) expect(Number.isSafeInteger(id) && id > 0).toBe(true);
  expect(JOB_STATUSES).toContain(truth.status);
  for (const id of [truth.pipelineId, truth.userId, truth.runnerId]) {
    if (id !== undefined) expect(Number.isSafeInteger(id) && id > 0).toBe(true);
  }
  for (const atMs of [truth.createdAtMs, truth.startedAtMs, truth.finishedAtMs]) {
    if (atMs !== undefined) expect(Number.isSafeInteger(atMs)).toBe(true);
  }
  if (truth.durationSeconds !== undefined) {
    expect(Number.isFinite(truth.durationSeconds) && truth.durationSeconds >= 0).toBe(true);
  }
  const { retryCount = 0, queuedSeconds = 0 } = truth;
  expect(Number.isSafeInteger(retryCount) && retryCount >= 0).toBe(true);
  expect(queuedSeconds >= 0 && queuedSeconds <= 31 * 86_400).toBe(true);
  for (const value of Object.values(truth)) expect(value).not.toBeUndefined();
}
