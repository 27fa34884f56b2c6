import fc from 'fast-check';
import { expect, test } from 'vitest';
import { BACKFILLS_MAX, WAITING_MAX, WAITING_OF_ROOT_MAX } from '../../../relay/waiting/wait-queue.ts';
import { type SlotHouse, type SlotJob, slotHouse } from '../../support/relay/slot-house.ts';

const ANSWER_WITHIN_MS = 10_000;
const SLOTS = { instance: 8, a: 4, b: 6 };

const jobs = fc.array(
  fc.record({
    afterMs: fc.integer({ min: 0, max: 4 }).map((step) => step * 10),
    root: fc.constantFrom(1, 1, 1, 2, 3),
    takes: fc.oneof(
      { weight: 6, arbitrary: fc.constant<SlotJob['takes']>({ a: 1 }) },
      {
        weight: 2,
        arbitrary: fc.constantFrom<SlotJob['takes']>(
          { a: 4 },
          { b: 1 },
          { b: 5 },
          { instance: 1, a: 1 },
          { instance: 6 },
        ),
      },
    ),
    runMs: fc.integer({ min: 20, max: 90 }).map((step) => step * 10),
  }),
  { minLength: 40, maxLength: 160 },
);

/** Slots that become free one after the other, and a job that needs all of them at once: everybody would pass it. */
const SIEGE = [400, 700, 1_000, 1_300].map((runMs) => ({ afterMs: 0, root: 1, takes: { a: 1 }, runMs }));
const LARGE = { afterMs: 50, root: 1, takes: { a: 4 }, runMs: 100 };

/** How often each job that waited was passed by one of its root that was asked about for the first time when it waited. */
function passes({ said }: SlotHouse, all: readonly SlotJob[]): readonly number[] {
  const first = (jobId: number) => said.find((each) => each.jobId === jobId);
  const waitedFrom = (jobId: number) =>
    said.find((each) => each.jobId === jobId && each.outcome === 'waiting')?.atMs;
  const until = (jobId: number) => said.findLast((each) => each.jobId === jobId)?.atMs ?? 0;
  return all.map((job) => {
    const sinceMs = waitedFrom(job.jobId);
    if (sinceMs === undefined) return 0;
    return all.filter((other) => {
      const admitted = said.find((each) => each.jobId === other.jobId && each.outcome === 'admitted');
      return (
        other.root === job.root &&
        Object.keys(other.takes).some((name) => name in job.takes) &&
        (first(other.jobId)?.sentMs ?? 0) > sinceMs &&
        admitted !== undefined &&
        admitted.atMs < until(job.jobId)
      );
    }).length;
  });
}

test('every job is answered in time, nobody is passed more often than the bound, and nothing is left', async () => {
  let waited = 0;
  let passed = 0;
  await fc.assert(
    fc.asyncProperty(jobs, fc.constantFrom(500, 20_000, 20_000), async (others, waitMs) => {
      const asks = [...SIEGE, LARGE, ...others];
      const house = slotHouse({ slots: SLOTS, waitMs, answerWithinMs: ANSWER_WITHIN_MS });
      const all: SlotJob[] = [];
      const questions: ReturnType<typeof house.ask>[] = [];
      for (const [at, { afterMs, ...job }] of asks.entries()) {
        await house.pass(afterMs);
        all.push({ ...job, jobId: at + 1 });
        questions.push(house.ask({ ...job, jobId: at + 1 }));
        expect(house.waiting.size).toBeLessThanOrEqual(WAITING_MAX);
      }
      await house.pass(ANSWER_WITHIN_MS);
      for (const { answers, answeredAtMs, arrivedAtMs } of questions) {
        expect(answers).toHaveLength(1);
        expect(answeredAtMs - arrivedAtMs).toBeLessThanOrEqual(ANSWER_WITHIN_MS);
        expect(['admitted', 'rejected']).toContain(answers[0]?.verdict.outcome);
      }
      const counts = passes(house, all);
      expect(Math.max(...counts)).toBeLessThanOrEqual(BACKFILLS_MAX);
      waited += house.said.filter(({ outcome }) => outcome === 'waiting').length;
      passed = Math.max(passed, ...counts);
      expect(house.waiting.size).toBe(0);
      await house.pass(5_000);
      expect(house.clock.timers).toBe(0);
    }),
    { numRuns: 60 },
  );
  // Else it proves nothing.
  expect(waited).toBeGreaterThan(1_000);
  expect(passed).toBeGreaterThan(BACKFILLS_MAX / 2);
});

test('a flood is bounded: of one root and of all only so many wait, the others are rejected at once', async () => {
  const house = slotHouse({ slots: { a: 0 }, answerWithinMs: ANSWER_WITHIN_MS });
  const flood = (root: number, count: number, from: number) =>
    Array.from({ length: count }, (_, at) =>
      house.ask({ jobId: from + at, root, takes: { a: 1 }, runMs: 10 }),
    );
  const one = flood(1, WAITING_OF_ROOT_MAX + 30, 1_000);
  await house.pass(100);
  expect(house.waiting.size).toBe(WAITING_OF_ROOT_MAX);
  expect(one.filter(({ answers }) => answers[0]?.verdict.outcome === 'rejected')).toHaveLength(30);
  for (let root = 2; root < 10; root += 1) flood(root, WAITING_OF_ROOT_MAX, root * 1_000);
  await house.pass(100);
  expect(house.waiting.size).toBe(WAITING_MAX);
});
