import fc from 'fast-check';
import { expect, test } from 'vitest';
import { JOB_STATUSES, type JobTruth } from '../../../../functions/core/gitlab/gitlab.ts';
import { parseJobHook } from '../../../../functions/core/gitlab/job-reader.ts';
import { aJobHook } from '../../../support/job-hook-bodies.ts';

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
