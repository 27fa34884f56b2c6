import { expect, test } from 'vitest';
import { inTurn, type WaitingEntry } from '../../../functions/requeue/requeue.ts';

const waiting = (jobId: number, root: number, priority: number): WaitingEntry => ({
  ...{ jobId, root, priority, projectId: 1, groupId: root, rejectedAtMs: jobId, firstAtMs: jobId },
  ...{ retries: 0, state: 'waiting' },
});

test('priority first, then one of each top-level group after the other, then time', () => {
  const jobs = [
    ...[waiting(1, 100, 0), waiting(2, 100, 0), waiting(3, 100, 0), waiting(4, 200, 0)],
    ...[waiting(5, 200, 9), waiting(6, 300, 0)],
  ];
  expect(inTurn(jobs.toReversed()).map(({ jobId }) => jobId)).toEqual([5, 1, 4, 6, 2, 3]);
});

test('the earlier rejection goes first; of one instant the job that GitLab made first', () => {
  const jobs = [waiting(3, 100, 0), waiting(2, 100, 0), waiting(9, 100, 0)];
  const first = new Map([
    [9, 1],
    [3, 2],
    [2, 2],
  ]);
  const dated = jobs.map((job) => ({ ...job, firstAtMs: first.get(job.jobId) ?? 0 }));
  expect(inTurn(dated).map(({ jobId }) => jobId)).toEqual([9, 2, 3]);
});
