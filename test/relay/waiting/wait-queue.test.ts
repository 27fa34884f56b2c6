import { expect, test } from 'vitest';
import type { LimitRoom } from '../../../functions/core/contract/admissions.ts';
import { type WaitedVerdict, WaitQueue } from '../../../relay/waiting/wait-queue.ts';
import { handClock } from '../../../scripts/local/clock.ts';
import { turn } from '../../support/relay/commit-bench.ts';
import { type SlotHouse, type SlotQuestion, slotHouse } from '../../support/relay/slot-house.ts';
import { quotaViolation } from '../../support/relay/verdicts.ts';

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

const outcomeOf = ({ answers }: SlotQuestion): string | undefined => answers[0]?.verdict.outcome;
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
  expect(waiter.answers).toMatchObject([{ verdict: { outcome: 'admitted' } }]);
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

test('newcomers do not slow a line that moves', async () => {
  const house = slotHouse({ slots: { a: 40 } });
  for (let jobId = 1; jobId <= 40; jobId += 1) house.ask(one(jobId, { runMs: 1_000 }));
  await house.pass(100);
  const waiters = Array.from({ length: 40 }, (_, at) => house.ask(one(at + 100)));
  await house.pass(1_700);
  for (let at = 0; at < 20; at += 1) {
    house.ask(one(at + 1_000));
    await house.pass(30);
  }
  expect(waiters.map(outcomeOf)).toEqual(waiters.map(() => 'admitted'));
});

test('how often is asked does not grow with how many wait', async () => {
  const askedOfLine = async (waiters: number): Promise<number> => {
    const house = slotHouse({ slots: { a: 0 } });
    for (let jobId = 1; jobId <= waiters; jobId += 1) house.ask(one(jobId));
    await house.pass(200);
    const before = house.said.length;
    await house.pass(10_000);
    return house.said.length - before;
  };
  expect(await askedOfLine(60)).toBe(await askedOfLine(6));
  expect(await askedOfLine(60)).toBeLessThanOrEqual(4 * 8);
});

test('patience ends with a rejection of the function, which hears how long the job waited', async () => {
  const house = slotHouse({ slots: { a: 0 }, waitMs: 20_000, answerWithinMs: 8_000 });
  const waiter = house.ask(one(1));
  await house.pass(8_000);
  expect(waiter.answers).toMatchObject([{ verdict: { outcome: 'rejected' } }]);
  expect(waiter.answeredAtMs - waiter.arrivedAtMs).toBeLessThanOrEqual(8_000);
  expect(house.said.at(-1)).toMatchObject({ outcome: 'rejected' });
  expect(house.said.at(-1)?.waitedMs).toBeGreaterThan(6_900);
});

test('the limit’s own wait ends it sooner', async () => {
  const house = slotHouse({ slots: { a: 0 }, waitMs: 1_500 });
  const waiter = house.ask(one(1));
  await house.pass(2_000);
  expect(outcomeOf(waiter)).toBe('rejected');
});

test('without patience for more than the deadline a job waits a moment only', async () => {
  const house = slotHouse({ slots: { a: 0 }, deadlineMs: 2_000, answerWithinMs: 2_000 });
  const waiter = house.ask(one(1));
  await house.pass(2_000);
  expect(outcomeOf(waiter)).toBe('rejected');
});

test('nobody answers any more: the fallback is asked at once, not when patience ends', async () => {
  const house = slotHouse({ slots: { a: 0 } });
  const waiters = [1, 2, 3, 4, 5, 6].map((jobId) => house.ask(one(jobId)));
  await house.pass(300);
  house.out = true;
  await house.pass(3_000);
  expect(waiters.flatMap(({ answers }) => answers)).toEqual(
    waiters.map(() => expect.objectContaining({ verdict: { outcome: 'undecided', cause: 'unreachable' } })),
  );
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

test('while no rejection would be sent nobody waits for one', async () => {
  const house = slotHouse({ slots: { a: 0 }, isRejecting: () => false });
  const asked = house.ask(one(1));
  await house.pass(100);
  expect(outcomeOf(asked)).toBe('rejected');
  expect(askedOf(house, 1)).toBe(1);
  expect(house.waiting.terms([2])).toEqual({ jobs: [{ jobId: 2, waitedMs: 0, last: true }] });
});

test('while nobody is admitted a line is asked about less and less often, down to once in two seconds', async () => {
  const house = slotHouse({ slots: { a: 0 } });
  house.ask(one(1));
  await house.pass(14_000);
  const sent = house.said.map(({ sentMs }) => sentMs);
  const pauses = sent.slice(1).map((atMs, at) => Math.round((atMs - (sent[at] ?? 0)) / 100) * 100);
  expect(pauses.slice(0, 6)).toEqual([300, 500, 1_000, 2_000, 2_000, 2_000]);
});

test('the last question goes a second before patience ends', async () => {
  const house = slotHouse({ slots: { a: 0 }, answerWithinMs: 20_000, waitMs: 60_000 });
  house.ask(one(1));
  await house.pass(21_000);
  expect(house.said.at(-1)).toMatchObject({ sentMs: 19_000, outcome: 'rejected' });
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
  expect(left.answers).toMatchObject([{ verdict: { outcome: 'undecided', cause: 'abandoned' } }]);
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

test('who is refused passes nobody: a small job behind a large one is asked about for as long as it waits', async () => {
  const house = slotHouse({ slots: { a: 4 }, answerWithinMs: 120_000, waitMs: 120_000 });
  for (const jobId of [1, 2, 3, 4]) house.ask(one(jobId));
  await house.pass(50);
  const [large, small] = [house.ask(one(10, { a: 4 })), house.ask(one(11))];
  await house.pass(40_000);
  house.end(1);
  await house.pass(3_000);
  expect([large, small].map(outcomeOf)).toEqual([undefined, 'admitted']);
});

test('within a root the first comes first, whatever projects they are of', async () => {
  const house = slotHouse({ slots: { a: 2 } });
  for (const jobId of [1, 2]) house.ask(one(jobId, { runMs: 1_000 }));
  await house.pass(50);
  const waiters: SlotQuestion[] = [];
  for (const [at, project] of [10, 10, 20].entries()) {
    waiters.push(house.ask({ ...one(at + 100), project }));
    await house.pass(50);
  }
  await house.pass(3_000);
  expect(waiters.map(outcomeOf)).toEqual(['admitted', 'admitted', undefined]);
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

test('a question that goes while its job is asked about is answered as the function decides', async () => {
  const house = slotHouse({ slots: { a: 1 }, callMs: 500 });
  house.ask(one(1));
  await house.pass(600);
  const waiter = house.ask(one(2));
  await house.pass(600);
  const before = house.calls.length;
  while (house.calls.length === before) await house.pass(10);
  house.end(1);
  waiter.gone();
  expect(waiter.answers).toEqual([]);
  await house.pass(600);
  expect(waiter.answers).toMatchObject([{ verdict: { outcome: 'admitted' } }]);
});

test('of very many lines 64 are named, and 96 jobs are asked about at once', async () => {
  const house = slotHouse({ slots: {} });
  for (let jobId = 1; jobId <= 200; jobId += 1)
    house.ask({ jobId, root: jobId % 10, takes: { [`slots ${jobId}`]: 1 }, runMs: FOREVER_MS });
  await house.pass(200);
  expect(house.waiting.size).toBe(200);
  expect(house.waiting.terms([]).lines).toHaveLength(64);
  const first = house.said.length;
  await house.pass(2_000);
  const asked = house.said.slice(first);
  const atOnce = asked.map(
    ({ sentMs }) => asked.filter((each) => each.sentMs <= sentMs && sentMs < each.atMs).length,
  );
  expect(Math.max(...atOnce)).toBeLessThanOrEqual(96);
  expect(new Set(asked.map(({ jobId }) => jobId)).size).toBe(200);
});

test('a function that lets a job wait that it was asked about for the last time is asked no more', async () => {
  const clock = handClock(1_000);
  const violation = quotaViolation('group/1', 'CONCURRENCY_FULL', { unit: 'jobs', limit: 'jobs-now' });
  let asked = 0;
  const queue = new WaitQueue({
    commit: {
      decide: async () => {
        asked += 1;
        return { outcome: 'waiting', leftMs: 0, counters: ['a'], violations: [violation], text: 'full' };
      },
    },
    ...{ clock, observe: () => {}, deadlineMs: 2_000, answerWithinMs: 20_000 },
  });
  const answers: WaitedVerdict[] = [];
  const request = { jobId: 1, projectId: 1, rootNamespaceId: 1 };
  void queue
    .decide(request, { arrivedAtMs: clock.monotonicMs(), listenForEnd: () => {} })
    .then((answer) => answers.push(answer));
  for (let ms = 0; ms < 100; ms += 10) {
    await turn();
    clock.advance(10);
  }
  expect(answers).toMatchObject([{ verdict: { outcome: 'undecided', cause: 'malformed' } }]);
  expect(asked).toBe(2);
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

test('without it the pause of the line ends as it would', async () => {
  const { house, waiter } = await longWait();
  house.end(1);
  await house.pass(1_000);
  expect(outcomeOf(waiter)).toBeUndefined();
  await house.pass(1_200);
  expect(outcomeOf(waiter)).toBe('admitted');
});

test('room that fits nobody is one reason to ask, and not one for every answer that tells of it', async () => {
  const { house, waiter } = await longWait();
  const askedAfter = async (...committed: number[]): Promise<number> => {
    const before = askedOf(house, 2);
    for (const each of committed) {
      house.waiting.onHeadroom([roomOf(each)]);
      await house.pass(50);
    }
    return askedOf(house, 2) - before;
  };
  expect(await askedAfter(2, 2)).toBe(0);
  expect(await askedAfter(1, 1, 1, 1)).toBe(1);
  expect(await askedAfter(2, 2)).toBe(0);
  expect(await askedAfter(1)).toBe(1);
  expect(await askedAfter(0, 0)).toBe(1);
  expect(outcomeOf(waiter)).toBeUndefined();
});

test('an answer that tells of no room plans no round', async () => {
  const { house } = await longWait();
  await house.pass(100);
  const before = house.clock.timers;
  house.waiting.onHeadroom([roomOf(2)]);
  expect(house.clock.timers).toBe(before);
});

test('roots that wait for one counter are told to be asked about together; one root alone fights nobody', async () => {
  const clock = handClock(1_000);
  const told: (readonly [string, readonly string[]])[] = [];
  const violation = quotaViolation('group/1', 'CONCURRENCY_FULL', { unit: 'jobs', limit: 'jobs-now' });
  const queue = new WaitQueue({
    commit: {
      decide: async ({ rootNamespaceId }) => {
        const counters = ['all', `of root ${rootNamespaceId}`];
        return { outcome: 'waiting', leftMs: 9_000, counters, violations: [violation], text: 'full' };
      },
    },
    lanes: { noteContended: (counter, roots) => void told.push([counter, roots]) },
    ...{ clock, observe: () => {}, deadlineMs: 2_000, answerWithinMs: 20_000 },
  });
  for (const jobId of [1, 2])
    void queue.decide(
      { jobId, projectId: jobId, rootNamespaceId: jobId },
      { arrivedAtMs: clock.monotonicMs(), listenForEnd: () => {} },
    );
  await turn();
  clock.advance(300);
  expect(told).toEqual([['all', ['1', '2']]]);
});

test('room of a limit that nobody waits for, or that counts by periods, changes nothing', async () => {
  const { house } = await longWait();
  const before = house.said.length;
  const money = { unit: 'micros', limit: 'jobs-now', limitAmount: 2, committed: 0 } as const;
  const others = { unit: 'jobs', limit: 'jobs-now', committed: 0 } as const;
  house.waiting.onHeadroom([
    roomOf(0, { refusal: quotaViolation('group/9', 'CONCURRENCY_FULL', others) }),
    roomOf(0, { refusal: quotaViolation('group/1', 'BUDGET_EXHAUSTED', money) }),
  ]);
  await house.pass(200);
  expect(house.said.length).toBe(before);
});
