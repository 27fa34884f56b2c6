import fc from 'fast-check';
import { expect, test } from 'vitest';
import { JOB_STATUSES, type JobTruth } from '../../../../functions/core/gitlab/gitlab.ts';
import { hintText, parseHintText } from '../../../../functions/core/truth/webhook-hints.ts';

const id = fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER });
const atMs = fc.integer({ min: 0, max: 4e12 });
const label = fc.string({ unit: 'binary', maxLength: 80 });

const truth: fc.Arbitrary<JobTruth> = fc.record(
  {
    jobId: id,
    projectId: id,
    status: fc.constantFrom(...JOB_STATUSES),
    projectPath: label,
    jobName: label,
    jobStage: label,
    pipelineId: id,
    userId: id,
    ref: label,
    runnerId: id,
    runnerTags: fc.array(label, { maxLength: 5 }),
    environment: label,
    createdAtMs: atMs,
    startedAtMs: atMs,
    finishedAtMs: atMs,
    durationSeconds: fc.double({ min: 0, max: 1e7, noNaN: true }).map((seconds) => seconds + 0),
    retryCount: fc.nat(),
    queuedSeconds: fc.double({ min: 0, max: 1e7, noNaN: true }).map((seconds) => seconds + 0),
    failureReason: label,
  },
  { requiredKeys: ['jobId', 'projectId', 'status'] },
);

test('a hint reads back as it was written', () => {
  fc.assert(
    fc.property(id, truth, (groupId, one) => {
      const hint = { groupId, truth: one };
      expect(parseHintText(hintText(hint))).toEqual(hint);
    }),
  );
});

test('labels too long for an item are left out, what counts never is', () => {
  const long = 'x'.repeat(4_096);
  const kept = { jobId: 1, projectId: 2, status: 'success', startedAtMs: 3, durationSeconds: 4 } as const;
  const labels = { jobName: 'unit', ref: long, runnerTags: Array.from({ length: 200 }, () => long) };
  const text = hintText({ groupId: 100, truth: { ...kept, ...labels } });
  expect(text.length).toBeLessThanOrEqual(8_192);
  expect(parseHintText(text)).toEqual({ groupId: 100, truth: { ...kept, jobName: 'unit' } });
});
