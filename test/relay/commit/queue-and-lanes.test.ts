import { describe, expect, test } from 'vitest';
import { BATCH_BYTES_MAX } from '../../../functions/core/contract/admissions.ts';
import { type BatchJob, createBatchJob, FairQueue, takeBatch } from '../../../relay/commit/fair-queue.ts';
import { createLanes, type Lanes } from '../../../relay/commit/lanes.ts';
import { type HandClock, handClock } from '../../../scripts/local/clock.ts';
import { range } from '../../support/relay/commit-bench.ts';

describe('the next batch', () => {
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

  test('a batch stays within the contract’s bytes, counted as they travel and not as characters', () => {
    const queue = queueOf(range(1, 12).map((jobId) => job(jobId, { padding: 20_000 })));
    const { jobs } = takeBatch(queue, roots(), NOW_MS);
    const bytes = jobs.reduce((sum, one) => sum + Buffer.byteLength(one.json), 0);
    expect(bytes).toBeLessThanOrEqual(BATCH_BYTES_MAX);
    expect(bytes + Buffer.byteLength(job(8, { padding: 20_000 }).json)).toBeGreaterThan(BATCH_BYTES_MAX);
    expect(queue.size).toBe(12 - jobs.length);
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
});

describe('lanes', () => {
  function someLanes(busyShare?: () => number): { readonly clock: HandClock; readonly lanes: Lanes } {
    const clock = handClock(1_000);
    return { clock, lanes: createLanes(clock, busyShare) };
  }

  const together = (lanes: Lanes, ...roots: readonly string[]): boolean =>
    new Set(roots.map(lanes.laneOf)).size === 1;

  test('a relay that is short of time makes four calls of eight, then two, and eight again once it has plenty', () => {
    let busy = 0;
    const { lanes, clock } = someLanes(() => busy);
    const shares = [0.49, 0.5, 0.74, 0.75, 0.9, 0.55, 0.54, 0.36, 0.34, 0.49, 0.8, 0.2];
    const calls = shares.map((share) => {
      busy = share;
      clock.advance(1_000);
      return lanes.callsMax();
    });
    expect(calls).toEqual([8, 4, 4, 2, 2, 2, 4, 4, 8, 8, 2, 8]);
  });

  test('roots that fight for one counter are one lane, nobody else is, and they part again', () => {
    const { lanes, clock } = someLanes();
    lanes.noteContended('instance', ['a']);
    expect(together(lanes, 'a', 'b')).toBe(false);
    lanes.noteContended('instance', ['b']);
    expect(together(lanes, 'a', 'b')).toBe(true);
    lanes.noteContended('runner-class/large', ['c']);
    expect(together(lanes, 'a', 'c')).toBe(false);
    clock.advance(10_000);
    lanes.callsMax();
    expect(together(lanes, 'a', 'b')).toBe(false);
  });

  test('once more than four roots fight for one counter, all are one lane', () => {
    const { lanes } = someLanes();
    lanes.noteContended('instance', range(1, 4).map(String));
    expect(together(lanes, '1', 'else')).toBe(false);
    lanes.noteContended('instance', ['5']);
    expect(together(lanes, '1', 'else')).toBe(true);
  });

  test('batches shrink to what one transaction takes, and grow again', () => {
    const { lanes } = someLanes();
    const batch = (jobs: number): readonly string[] => range(1, jobs).map(() => 'a');
    lanes.notePacked(batch(96), 4);
    expect([lanes.jobsMax('a'), lanes.jobsMax('b')]).toEqual([24, 96]);
    lanes.notePacked(batch(24), 1);
    expect(lanes.jobsMax('a')).toBe(32);
    for (const _ of range(1, 9)) lanes.notePacked(batch(32), 1);
    expect(lanes.jobsMax('a')).toBe(96);
  });
});
