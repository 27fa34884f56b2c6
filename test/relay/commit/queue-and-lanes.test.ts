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

  /** So many jobs of each root, evenly over a second. */
  function second(lanes: Lanes, clock: HandClock, jobs: Readonly<Record<string, number>>): void {
    for (const [root, count] of Object.entries(jobs)) for (const _ of range(1, count)) lanes.noteJob(root);
    clock.advance(1_000);
  }

  /** Quiet roots of as many different lanes. */
  function rootsApart(lanes: Lanes, count: number): readonly string[] {
    const byLane = new Map(range(1, 200).map((root) => [lanes.laneOf(String(root)), String(root)]));
    return [...byLane.values()].slice(0, count);
  }

  const together = (lanes: Lanes, ...roots: readonly string[]): boolean =>
    new Set(roots.map(lanes.laneOf)).size === 1;

  test('a relay that is short of time makes four lanes of eight, then two, and eight again once it has plenty', () => {
    let busy = 0;
    const { lanes, clock } = someLanes(() => busy);
    const apart = () => new Set(range(1, 200).map((root) => lanes.laneOf(String(root))));
    const pass = (share: number): number => {
      busy = share;
      clock.advance(1_000);
      lanes.noteJob('1');
      return apart().size;
    };
    const eight = apart();
    const shares = [0.49, 0.5, 0.74, 0.75, 0.9, 0.55, 0.54, 0.36, 0.34, 0.49, 0.8, 0.2];
    const versions = new Set([lanes.version]);
    const sizes = shares.map((share) => {
      const size = pass(share);
      versions.add(lanes.version);
      return size;
    });
    expect(sizes).toEqual([8, 4, 4, 2, 2, 2, 4, 4, 8, 8, 2, 8]);
    expect(versions.size).toBe(7);
    expect(apart()).toEqual(eight);
  });

  test.each([
    { jobs: { busy: 20, other: 140 }, busy: true, why: 'twenty a second and an eighth of all' },
    { jobs: { busy: 19, other: 100 }, busy: false, why: 'fewer than twenty a second' },
    { jobs: { busy: 20, other: 141 }, busy: false, why: 'less than an eighth of all' },
  ])('a root with $why has a lane of its own: $busy', ({ jobs, busy }) => {
    const { lanes, clock } = someLanes();
    second(lanes, clock, jobs);
    lanes.noteJob('busy');
    expect(lanes.laneOf('busy') === 'root busy').toBe(busy);
  });

  test('lanes whose roots fight for one counter are one lane, and nobody else’s is', () => {
    const { lanes } = someLanes();
    const [a = '', b = '', c = ''] = rootsApart(lanes, 3);
    lanes.noteContended('instance', [a]);
    expect(together(lanes, a, b)).toBe(false);
    lanes.noteContended('instance', [b]);
    expect(together(lanes, a, b)).toBe(true);
    expect(together(lanes, a, c)).toBe(false);
    lanes.noteContended('runner-class/large', [c]);
    expect(together(lanes, a, c)).toBe(false);
  });
});
