import { expect, test } from 'vitest';
import { FairOrder } from '../../../relay/waiting/fair-order.ts';
import { type WaitingJob, waitingTerms } from '../../../relay/waiting/waiting-job.ts';

const order = new FairOrder();
const waiting = (jobId: number, over: Partial<WaitingJob> = {}): WaitingJob => ({
  request: { jobId },
  place: order.join(jobId, '1', ['a']),
  ...{ sinceMs: 0, untilMs: 20_000, lastAskMs: 19_000, isLast: false, isAsked: true, turn: ['a'] },
  ...{ waiters: [], listeners: 1 },
  ...over,
});

test('a batch tells of those that wait what there is to tell, and no empty lists', () => {
  const jobs = new Map([
    [1, waiting(1)],
    [2, waiting(2, { turn: [], isLast: true })],
  ]);
  const told = (jobIds: readonly number[], places = order.places) =>
    waitingTerms(jobIds, { jobs, places, isFull: false, nowMs: 500 });
  expect(told([1, 2])).toStrictEqual({
    lines: ['a'],
    jobs: [
      { jobId: 1, waitedMs: 500, turn: ['a'] },
      { jobId: 2, waitedMs: 500, last: true },
    ],
  });
  expect(told([3])).toStrictEqual({ lines: ['a'] });
  expect(told([3], [])).toStrictEqual({});
});
