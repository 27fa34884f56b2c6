import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type BatchJob, createBatchJob, FairQueue } from '../../../relay/commit/fair-queue.ts';

let lastJobId = 0;
const job = (project: number, root = 1): BatchJob => {
  lastJobId += 1;
  return createBatchJob({ jobId: lastJobId, projectId: project, rootNamespaceId: root });
};
const drain = (queue: FairQueue, root = '1'): (BatchJob | undefined)[] => {
  const jobs: (BatchJob | undefined)[] = [];
  while (queue.has(root)) jobs.push(queue.shift(root));
  return jobs;
};

test('projects take turns, and each keeps its own order', () => {
  const queue = new FairQueue();
  const [a1, a2, a3, b1, c1, c2] = [job(1), job(1), job(1), job(2), job(3), job(3)];
  for (const one of [a1, a2, a3, b1, c1, c2]) queue.push(one);
  expect(drain(queue)).toEqual([a1, b1, c1, a2, c2, a3]);
});

test('a project that comes while others wait is next but for one turn of each', () => {
  const queue = new FairQueue();
  const flood = Array.from({ length: 1_000 }, () => job(1));
  for (const one of flood) queue.push(one);
  const neighbour = job(2);
  queue.push(neighbour);
  queue.shift('1');
  expect(queue.shift('1')).toBe(neighbour);
});

test('a hundred thousand projects that asked once leave nothing behind', () => {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  const heapBytes = (): number => {
    collect();
    return process.memoryUsage().heapUsed;
  };
  const queue = new FairQueue();
  const before = heapBytes();
  for (let project = 1; project <= 100_000; project += 1) {
    queue.push(job(project));
    queue.shift('1');
  }
  // A line of each would be four times as much.
  expect(heapBytes() - before).toBeLessThan(8 * 1024 * 1024);
  expect(queue.size).toBe(0);
});

test('a root sees its own jobs only', () => {
  const queue = new FairQueue();
  const [ours, theirs] = [job(1, 1), job(2, 2)];
  queue.push(ours);
  queue.push(theirs);
  expect(drain(queue, '2')).toEqual([theirs]);
  expect(queue.has('1')).toBe(true);
  expect(queue.has('3')).toBe(false);
  expect(queue.first('3')).toBeUndefined();
  expect(queue.shift('3')).toBeUndefined();
});

test('looking at the first job takes nothing', () => {
  const queue = new FairQueue();
  const [a, b] = [job(1), job(2)];
  queue.push(a);
  queue.push(b);
  expect([queue.first('1'), queue.first('1'), queue.size]).toEqual([a, a, 2]);
});

test('a job taken out of the middle is gone, and taking it twice harms nobody', () => {
  const queue = new FairQueue();
  const [a, b, c] = [job(1), job(1), job(1)];
  for (const one of [a, b, c]) queue.push(one);
  queue.remove(b);
  queue.remove(b);
  expect(queue.waits(b)).toBe(false);
  expect(queue.size).toBe(2);
  expect(drain(queue)).toEqual([a, c]);
});

test('beyond the bound the flooding project pays with its newest job, whoever came last', () => {
  const queue = new FairQueue(4);
  const [a1, a2, a3, b1] = [job(1), job(1), job(1), job(2, 2)];
  for (const one of [a1, a2, a3, b1]) expect(queue.push(one)).toBeUndefined();
  const b2 = job(2, 2);
  expect(queue.push(b2)).toBe(a3);
  expect(queue.size).toBe(4);
  expect([...drain(queue, '1'), ...drain(queue, '2')]).toEqual([a1, a2, b1, b2]);
});

test('a project that fills the queue alone evicts the job it just added', () => {
  const queue = new FairQueue(2);
  queue.push(job(1));
  queue.push(job(1));
  const newest = job(1);
  expect(queue.push(newest)).toBe(newest);
  expect(queue.waits(newest)).toBe(false);
});

/** Project 0–3 pushes (each of its own root), `shift` and `remove` by an index. */
const step = fc.oneof(
  { weight: 4, arbitrary: fc.record({ do: fc.constant('push' as const), at: fc.nat(3) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('shift' as const), at: fc.nat(1) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('remove' as const), at: fc.nat(50) }) },
);

test('whatever happens, the queue never exceeds its bound, loses no job and evicts from a longest line', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 80 }), fc.integer({ min: 1, max: 8 }), (steps, capacity) => {
      const queue = new FairQueue(capacity);
      let model: BatchJob[] = [];
      const lengthOf = (project: string): number => model.filter((one) => one.project === project).length;
      for (const { do: action, at } of steps) {
        if (action === 'push') {
          const pushed = job(at, at % 2);
          model.push(pushed);
          const evicted = queue.push(pushed);
          expect(evicted === undefined).toBe(model.length <= capacity);
          if (evicted !== undefined) {
            const longest = Math.max(...model.map((one) => lengthOf(one.project)));
            expect(lengthOf(evicted.project)).toBe(longest);
            expect(model.findLast((one) => one.project === evicted.project)).toBe(evicted);
            model = model.filter((one) => one !== evicted);
          }
        } else if (action === 'shift') {
          const taken = queue.shift(String(at));
          expect(taken === undefined).toBe(!model.some((one) => one.root === String(at)));
          if (taken !== undefined) expect(model.find((one) => one.project === taken.project)).toBe(taken);
          model = model.filter((one) => one !== taken);
        } else {
          const gone = model[at % Math.max(1, model.length)];
          if (gone !== undefined) queue.remove(gone);
          model = model.filter((one) => one !== gone);
        }
        expect(queue.size).toBe(model.length);
        expect(model.every((one) => queue.waits(one))).toBe(true);
      }
      expect(new Set([...drain(queue, '0'), ...drain(queue, '1')])).toEqual(new Set(model));
    }),
    { numRuns: 300 },
  );
});
