import { expect, test } from 'vitest';
import { BATCH_BYTES_MAX, REQUESTS_MAX } from '../../../functions/core/contract/admissions.ts';
import {
  type BatchJob,
  createBatchJob,
  FairQueue,
  projectOf,
  requestRootOf,
  SEND_MS_MIN,
  takeBatch,
} from '../../../relay/commit/fair-queue.ts';
import { range } from '../../support/relay/commit-bench.ts';

const NOW_MS = 1_000;

function job(
  jobId: number,
  parts: { root?: number; project?: number; padding?: number; deadlinesMs?: readonly number[] } = {},
): BatchJob {
  const { root = 1, project = 1, padding = 0, deadlinesMs = [NOW_MS + 2_000] } = parts;
  const made = createBatchJob({
    jobId,
    projectId: project,
    rootNamespaceId: root,
    image: 'é'.repeat(padding),
  });
  for (const deadlineMs of deadlinesMs) made.waiters.add({ deadlineMs, resolve: () => {} });
  return made;
}

function queueOf(jobs: readonly BatchJob[]): FairQueue {
  const queue = new FairQueue();
  for (const one of jobs) queue.push(one);
  return queue;
}

const roots = (...names: readonly string[]): Set<string> => new Set(names.length === 0 ? ['1'] : names);
const ids = (jobs: readonly BatchJob[]): number[] => jobs.map((one) => one.request.jobId);

test('a batch takes 96 jobs and leaves the rest in order', () => {
  const queue = queueOf(range(1, 100).map((jobId) => job(jobId)));
  expect(ids(takeBatch(queue, roots(), NOW_MS).jobs)).toEqual(range(1, REQUESTS_MAX));
  expect(ids(takeBatch(queue, roots(), NOW_MS).jobs)).toEqual(range(97, 100));
  expect(takeBatch(queue, roots(), NOW_MS)).toEqual({ jobs: [], expired: [] });
});

test('a batch stays within the contract’s bytes, counted as they travel and not as characters', () => {
  const queue = queueOf(range(1, 12).map((jobId) => job(jobId, { padding: 20_000 })));
  const { jobs } = takeBatch(queue, roots(), NOW_MS);
  const bytes = jobs.reduce((sum, one) => sum + Buffer.byteLength(one.json), 0);
  expect(bytes).toBeLessThanOrEqual(BATCH_BYTES_MAX);
  expect(bytes + Buffer.byteLength(job(8, { padding: 20_000 }).json)).toBeGreaterThan(BATCH_BYTES_MAX);
  expect(queue.size).toBe(12 - jobs.length);
});

test('jobs that are the contract’s bytes together go in one batch', () => {
  const small = job(1);
  const queue = queueOf([small, { ...job(2), bytes: BATCH_BYTES_MAX - small.bytes }]);
  expect(ids(takeBatch(queue, roots(), NOW_MS).jobs)).toEqual([1, 2]);
});

test('a job larger than a batch goes alone instead of blocking its root', () => {
  const queue = queueOf([job(1, { padding: BATCH_BYTES_MAX }), job(2)]);
  expect(ids(takeBatch(queue, roots(), NOW_MS).jobs)).toEqual([1]);
  expect(ids(takeBatch(queue, roots(), NOW_MS).jobs)).toEqual([2]);
});

test('what cannot be decided in time leaves the queue without being sent', () => {
  const queue = queueOf([
    job(1, { deadlinesMs: [NOW_MS + SEND_MS_MIN - 1] }),
    job(2, { deadlinesMs: [NOW_MS + SEND_MS_MIN] }),
    job(3, { deadlinesMs: [] }),
    job(4, { deadlinesMs: [NOW_MS - 1, NOW_MS + 500] }),
  ]);
  const { jobs, expired } = takeBatch(queue, roots(), NOW_MS);
  expect([ids(jobs), ids(expired), queue.size]).toEqual([[2, 4], [1, 3], 0]);
});

test('expired jobs take no place in the batch', () => {
  const late = range(1, 200).map((jobId) => job(jobId, { deadlinesMs: [NOW_MS] }));
  const queue = queueOf([...late, ...range(201, 296).map((jobId) => job(jobId))]);
  const { jobs, expired } = takeBatch(queue, roots(), NOW_MS);
  expect([jobs.length, expired.length]).toEqual([96, 200]);
});

test('projects share a batch in turns', () => {
  const queue = queueOf([
    ...range(1, 200).map((jobId) => job(jobId, { project: 1 })),
    ...range(201, 400).map((jobId) => job(jobId, { project: 2 })),
  ]);
  const taken = ids(takeBatch(queue, roots(), NOW_MS).jobs);
  expect(taken.filter((jobId) => jobId > 200)).toHaveLength(48);
});

test('roots take turns, however many projects or jobs one of them has', () => {
  const queue = queueOf([
    ...range(1, 80).map((jobId) => job(jobId, { project: jobId })),
    ...range(201, 210).map((jobId) => job(jobId, { root: 2 })),
    job(300, { root: 3 }),
  ]);
  const waiting = roots('1', '2', '3');
  const first = ids(takeBatch(queue, waiting, NOW_MS).jobs);
  expect(first.slice(0, 6)).toEqual([1, 201, 300, 2, 202, 3]);
  expect([first.length, waiting.size, queue.size]).toEqual([91, 0, 0]);
});

test('where more roots wait than a batch takes, turns are longer: jobs that share counters go together', () => {
  const queue = queueOf(range(1, 12 * 40).map((jobId) => job(jobId, { root: jobId % 40 })));
  const waiting = roots(...range(0, 39).map(String));
  // Forty roots that want eight jobs each want three and a third batches.
  const first = takeBatch(queue, waiting, NOW_MS).jobs.map(({ root }) => root);
  expect(first).toEqual(range(0, 23).flatMap((root) => Array(4).fill(String(root))));
  const second = takeBatch(queue, waiting, NOW_MS).jobs.map(({ root }) => root);
  expect(second.slice(0, 4)).toEqual(Array(4).fill('24'));
});

test('a turn that a full batch cuts short is over all the same', () => {
  const queue = queueOf(range(1, 1_000).map((jobId) => job(jobId, { root: jobId % 100 })));
  const waiting = roots(...range(0, 99).map(String));
  const last = takeBatch(queue, waiting, NOW_MS).jobs.at(-1)?.root;
  const next = takeBatch(queue, waiting, NOW_MS).jobs;
  expect(next.some(({ root }) => root === last)).toBe(false);
});

test.each([96, 97, 500, 5_000])('a flood of %i jobs lengthens nobody’s turn', (flood) => {
  const queue = queueOf([
    ...range(1, flood).map((jobId) => job(jobId, { project: jobId % 7 })),
    ...range(10_001, 10_004).map((jobId) => job(jobId, { root: jobId })),
  ]);
  const waiting = roots('1', ...range(10_001, 10_004).map(String));
  const taken = ids(takeBatch(queue, waiting, NOW_MS).jobs);
  expect(taken.slice(1, 5)).toEqual(range(10_001, 10_004));
});

test('who was served last in one batch comes last in the next', () => {
  const queue = queueOf([
    ...range(1, 96).map((jobId) => job(jobId, { root: jobId })),
    ...range(1_001, 1_096).map((jobId) => job(jobId, { root: jobId - 1_000 })),
  ]);
  const waiting = roots(...range(1, 96).map(String), '97', 'nobody');
  queue.push(job(97, { root: 97 }));
  const served = [0, 1, 2].flatMap(() =>
    takeBatch(queue, waiting, NOW_MS).jobs.map(({ root }) => Number(root)),
  );
  // Two a turn and three batches for all: nobody is served twice before the last of the others is.
  expect(served).toEqual([...range(1, 96).flatMap((root) => [root, root]), 97]);
  expect(waiting.has('nobody')).toBe(false);
});

test.each([
  [{ rootNamespaceId: 5, projectPath: 'acme/a' }, '5'],
  [{ projectPath: 'Acme/sub/a' }, 'acme'],
  [{ projectPath: 'lonely' }, 'lonely'],
  [{ projectId: 7 }, 'project/7'],
  [{}, 'unknown'],
])('the root of %o is %s', (parts, root) => {
  expect(requestRootOf({ jobId: 1, ...parts })).toBe(root);
});

test.each([
  [{ projectId: 7, projectPath: 'acme/a' }, '7'],
  [{ projectPath: 'Acme/A' }, 'acme/a'],
  [{}, 'unknown'],
])('the project of %o is %s', (parts, project) => {
  expect(projectOf({ jobId: 1, ...parts })).toBe(project);
});
