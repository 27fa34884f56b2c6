import { expect, test } from 'vitest';
import { BATCH_BYTES_MAX } from '../../functions/core/contract/admissions.ts';
import { UnmeteredQueue, type UntoldAnswer } from '../../relay/unmetered-queue.ts';

const untold = (jobId: number, root: string, bytes = 1): UntoldAnswer => ({
  ...{ jobId, root, json: '{}', bytes, refusals: 0, takenBefore: 0 },
});
const ids = (answers: readonly UntoldAnswer[]): readonly number[] => answers.map(({ jobId }) => jobId);

test('answers that are the contract’s bytes together go in one batch', () => {
  const queue = new UnmeteredQueue({ answersMax: 10, bytesMax: 2 * BATCH_BYTES_MAX });
  for (const [jobId, bytes] of [
    [1, BATCH_BYTES_MAX - 1],
    [2, 1],
    [3, 1],
  ] as const)
    queue.push(untold(jobId, `${jobId}`, bytes));
  expect(ids(queue.take(0))).toEqual([1, 2]);
});

test('as many bytes as there may be are kept, and one more costs an answer', () => {
  const queue = new UnmeteredQueue({ answersMax: 10, bytesMax: 100 });
  expect(queue.push(untold(1, 'a', 60))).toEqual([]);
  expect(queue.push(untold(2, 'b', 40))).toEqual([]);
  expect(ids(queue.push(untold(3, 'b', 1)))).toEqual([2]);
});

test('of lines as long as each other the one whose turn it is gives up its oldest', () => {
  const queue = new UnmeteredQueue({ answersMax: 4, bytesMax: 100 });
  for (const [jobId, root] of [
    [1, 'a'],
    [2, 'b'],
    [3, 'a'],
    [4, 'b'],
  ] as const)
    queue.push(untold(jobId, root));
  expect(ids(queue.push(untold(5, 'c')))).toEqual([1]);
});
