import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { LimitRoom } from '../../functions/core/contract/admissions.ts';
import { BACKFILLS_MAX, WAITING_MAX, WAITING_OF_ROOT_MAX } from '../../relay/wait-queue.ts';
import { quotaViolation } from '../support/relay/decisions.ts';
import { type SlotHouse, type SlotJob, type SlotQuestion, slotHouse } from '../support/relay/slot-house.ts';

const FOREVER_MS = 1_000_000;

const one = (
  jobId: number,
  of: { readonly root?: number; readonly runMs?: number; readonly a?: number } = {},
) => ({
  jobId,
  root: of.root ?? 1,
  takes: { a: of.a ?? 1 },
  runMs: of.runMs ?? FOREVER_MS,
});

const outcomeOf = ({ answers }: SlotQuestion): string | undefined => answers[0]?.decision.outcome;
const askedOf = ({ said }: SlotHouse, jobId: number): number =>
  said.filter((each) => each.jobId === jobId).length;

test('a job that waits is admitted soon after a slot is free, and says how long it waited', async () => {
  const house = slotHouse({ slots: { a: 1 } });
  house.ask(one(1, { runMs: 3_000 }));
  await house.pass(100);
  const waiter = house.ask(one(2));
  await house.pass(2_500);
  expect(outcomeOf(waiter)).toBeUndefined();
  expect(house.waiting.size).toBe(1);
  expect(house.waiting.longestLines()).toEqual([
    { root: '1', counter: 'a', jobs: 1, longestMs: expect.any(Number) },
  ]);
  expect(house.waiting.longestLines()[0]?.longestMs).toBeGreaterThan(2_400);
  await house.pass(3_000);
  expect(waiter.answers).toMatchObject([{ decision: { outcome: 'admitted' } }]);
  expect(waiter.answers[0]?.waitedMs).toBeGreaterThan(2_800);
  expect(house.events.filter(({ type }) => type === 'waiting')).toEqual([
    { type: 'waiting', jobs: 1 },
    { type: 'waiting', jobs: 0 },
  ]);
});

test('a newcomer does not take the slot that others wait for, and slots that come free together are taken within a moment', async () => {
  const house = slotHouse({ slots: { a: 20 } });
  for (let jobId = 1; jobId <= 20; jobId += 1) house.ask(one(jobId, { runMs: 1_000 }));
  await house.pass(100);
  const waiters = Array.from({ length: 20 }, (_, at) => house.ask(one(at + 100)));
  await house.pass(900);
  const newcomer = house.ask(one(900));
  await house.pass(1_000);
  expect(waiters.map(outcomeOf)).toEqual(waiters.map(() => 'admitted'));
  expect(outcomeOf(newcomer)).toBeUndefined();
});

test('patience ends with a rejection of the function, which hears how long the job waited', async () => {
  const house = slotHouse({ slots: { a: 0 }, waitMs: 20_000, answerWithinMs: 8_000 });
  const waiter = house.ask(one(1));
  await house.pass(8_000);
  expect(waiter.answers).toMatchObject([{ decision: { outcome: 'rejected' } }]);
  expect(waiter.answeredAtMs - waiter.arrivedAtMs).toBeLessThanOrEqual(8_000);
  expect(house.said.at(-1)).toMatchObject({ outcome: 'rejected' });
  expect(house.said.at(-1)?.waitedMs).toBeGreaterThan(6_900);
});

test('a relay that stops asks once more and lets nobody begin to wait', async () => {
  const house = slotHouse({ slots: { a: 1 } });
  house.ask(one(1, { runMs: 1_500 }));
  await house.pass(100);
  const [lucky, unlucky] = [house.ask(one(2)), house.ask(one(3))];
  await house.pass(500);
  house.waiting.leave();
  const late = house.ask(one(4));
  await house.pass(200);
  expect(outcomeOf(late)).toBe('rejected');
  await house.pass(3_300);
  expect([lucky, unlucky].map(outcomeOf)).toEqual(['admitted', 'rejected']);
  expect(house.waiting.size).toBe(0);
});

test('a question that the router gives up waits no longer, and takes no slot', async () => {
  const house = slotHouse({ slots: { a: 1 } });
  house.ask(one(1, { runMs: 3_000 }));
  await house.pass(100);
  const [left, stays] = [house.ask(one(2)), house.ask(one(3))];
  await house.pass(1_000);
  const before = askedOf(house, 2);
  left.gone();
  await house.pass(4_000);
  expect(askedOf(house, 2)).toBe(before);
  expect(left.answers).toMatchObject([{ decision: { outcome: 'undecided', cause: 'abandoned' } }]);
  expect(outcomeOf(stays)).toBe('admitted');
  expect(house.said.filter(({ jobId, outcome }) => jobId === 2 && outcome === 'admitted')).toEqual([]);
});

test('the router asks twice about a job that waits: both get one answer, and the job stands in line once', async () => {
  const house = slotHouse({ slots: { a: 1 } });
  house.ask(one(1, { runMs: 3_000 }));
  await house.pass(100);
  const first = house.ask(one(2));
  await house.pass(500);
  const second = house.ask(one(2));
  await house.pass(300);
  expect(house.waiting.size).toBe(1);
  first.gone();
  await house.pass(5_000);
  expect([first, second].map(outcomeOf)).toEqual(['admitted', 'admitted']);
  expect(askedOf(house, 2)).toBeGreaterThan(1);
});

test('a large job is passed by small ones a few times, and then gets its turn', async () => {
  const house = slotHouse({ slots: { a: 4 } });
  for (const jobId of [1, 2, 3, 4]) house.ask(one(jobId, { runMs: jobId * 1_500 }));
  await house.pass(50);
  const large = house.ask(one(10, { a: 4 }));
  await house.pass(50);
  const small = Array.from({ length: 40 }, (_, at) => house.ask(one(at + 100, { runMs: 500 })));
  await house.pass(15_000);
  expect(outcomeOf(large)).toBe('admitted');
  const before = small.filter(({ answeredAtMs }) => answeredAtMs < large.answeredAtMs);
  expect(before.length).toBeGreaterThan(0);
  expect(before.length).toBeLessThanOrEqual(8);
});

test('roots take turns by their weights', async () => {
  const house = slotHouse({ slots: { a: 3 }, weightOf: (root) => (root === '2' ? 2 : 1) });
  for (const jobId of [1, 2, 3]) house.ask(one(jobId, { runMs: 2_000 }));
  await house.pass(50);
  const flood = Array.from({ length: 9 }, (_, at) => house.ask(one(at + 100, { root: 1 })));
  const heavy = Array.from({ length: 9 }, (_, at) => house.ask(one(at + 200, { root: 2 })));
  await house.pass(4_500);
  const admitted = (all: readonly SlotQuestion[]): number =>
    all.filter((each) => outcomeOf(each) === 'admitted').length;
  expect([admitted(flood), admitted(heavy)]).toEqual([1, 2]);
});

test('a root whose jobs come one after another does not starve another root', async () => {
  const house = slotHouse({ slots: { a: 1, x: 0 }, waitMs: 60_000, answerWithinMs: 60_000 });
  house.ask({ ...one(1), takes: { x: 1 } });
  house.ask(one(2, { root: 3, runMs: 500 }));
  await house.pass(50);
  const others = Array.from({ length: 4 }, (_, at) => house.ask(one(at + 10, { root: 2, runMs: 500 })));
  let last = house.ask(one(100, { runMs: 500 }));
  for (let jobId = 101; jobId < 1_700; jobId += 1) {
    await house.pass(10);
    if (outcomeOf(last) !== undefined) last = house.ask(one(jobId, { runMs: 500 }));
  }
  expect(others.map(outcomeOf)).toEqual(others.map(() => 'admitted'));
});

const LINE = 'group/1|jobs-now|now';
const roomOf = (committed: number, over: Partial<LimitRoom> = {}): LimitRoom => ({
  refusal: quotaViolation('group/1', 'CONCURRENCY_FULL', {
    ...{ unit: 'jobs', limit: 'jobs-now', limitAmount: 2, committed },
  }),
  policy: 'room',
  ...over,
});

/** A full limit for which one job waits so long that it is asked about every two seconds, and has just been. */
async function longWait() {
  const house = slotHouse({ slots: { [LINE]: 1 }, answerWithinMs: 60_000, waitMs: 60_000 });
  const takes = { [LINE]: 1 };
  house.ask({ ...one(1), takes });
  await house.pass(100);
  const waiter = house.ask({ ...one(2), takes });
  await house.pass(10_000);
  const before = askedOf(house, 2);
  while (askedOf(house, 2) === before) await house.pass(10);
  return { house, waiter };
}

test('an answer about another job tells of room: who waits for it is asked about at once', async () => {
  const { house, waiter } = await longWait();
  house.end(1);
  house.waiting.onHeadroom([roomOf(1)]);
  await house.pass(50);
  expect(outcomeOf(waiter)).toBe('admitted');
});

describe('any load', () => {
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
          expect(['admitted', 'rejected']).toContain(answers[0]?.decision.outcome);
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
    expect(passed).toBeGreaterThan(1);
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
    expect(one.filter(({ answers }) => answers[0]?.decision.outcome === 'rejected')).toHaveLength(30);
    for (let root = 2; root < 10; root += 1) flood(root, WAITING_OF_ROOT_MAX, root * 1_000);
    await house.pass(100);
    expect(house.waiting.size).toBe(WAITING_MAX);
  });
});
