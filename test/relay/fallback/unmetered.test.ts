import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  BATCH_BYTES_MAX,
  REQUESTS_MAX,
  type UnmeteredAnswer,
  type UnmeteredResult,
} from '../../../functions/core/contract/admissions.ts';
import type { UnmeteredOutcome, UnmeteredPost } from '../../../relay/admit/forward.ts';
import type { WriteJournal } from '../../../relay/aws/relay-items.ts';
import type { RelayEvent } from '../../../relay/events.ts';
import { createUnmetered, REFUSALS_MAX } from '../../../relay/fallback/unmetered.ts';
import { handClock } from '../../../scripts/local/clock.ts';
import { propertyRuns } from '../../support/property-runs.ts';

type Outcome = UnmeteredResult['outcome'];

const anAnswer = (jobId: number, jobName = 'unit', rootNamespaceId = 1): UnmeteredAnswer => ({
  request: { jobId, jobName, rootNamespaceId },
  answered: 'admitted',
  cause: 'deadline',
  answeredAtMs: 1,
});
const jobIds = (batch: readonly UnmeteredPost[]): number[] =>
  batch.map(({ json }) => JSON.parse(json).request.jobId);
const numbers = (from: number, to: number): number[] =>
  Array.from({ length: to - from + 1 }, (_, index) => from + index);

/** A queue before a service that answers with `says`, per call counted from 0. */
function bench(
  says: (batch: readonly UnmeteredPost[], call: number) => UnmeteredOutcome | Promise<UnmeteredOutcome>,
  capacity = 1_000,
  writeJournal?: WriteJournal,
) {
  const clock = handClock(1_000);
  let timersSet = 0;
  const events: Extract<RelayEvent, { type: 'unmetered' }>[] = [];
  const posts: {
    readonly batch: readonly UnmeteredPost[];
    readonly timeoutMs: number;
    readonly now: boolean;
    readonly atMs: number;
  }[] = [];
  const unmetered = createUnmetered({
    clock: {
      nowMs: () => clock.nowMs(),
      monotonicMs: () => clock.monotonicMs(),
      after: (delayMs, run) => {
        timersSet += 1;
        return clock.after(delayMs, run);
      },
    },
    capacity,
    writeJournal,
    random: () => 0,
    observe: (event) => {
      if (event.type === 'unmetered') events.push(event);
    },
    post: async (batch, { timeoutMs, now = false }) => {
      posts.push({ batch, timeoutMs, now, atMs: clock.monotonicMs() });
      return says(batch, posts.length - 1);
    },
  });
  const sum = (what: 'posted' | 'journaled' | 'dropped') =>
    events.reduce((total, event) => total + (event[what] ?? 0), 0);
  /** Moves to the next timer and waits until what it started is over. */
  const pass = async (ms: number): Promise<void> => {
    clock.advance(ms);
    await new Promise<void>((resolve) => setImmediate(resolve));
  };
  const losses = () => events.flatMap(({ lost }) => lost ?? []);
  return { clock, events, posts, unmetered, sum, pass, losses, timersSet: () => timersSet };
}

/** Everything of a batch has come to the same, but for the jobs that are named. */
const told = (
  batch: readonly UnmeteredPost[],
  kind: Outcome = 'recorded',
  others: Readonly<Record<number, Outcome>> = {},
): Extract<UnmeteredOutcome, { kind: 'reported' }> => ({
  kind: 'reported',
  outcomes: new Map(batch.map(({ jobId }) => [jobId, others[jobId] ?? kind])),
});
const recorded = (batch: readonly UnmeteredPost[]) => told(batch);
const UNREACHABLE: UnmeteredOutcome = { kind: 'unreachable' };

test('answers of one second go together, oldest first, and are then forgotten', async () => {
  const { unmetered, posts, pass, sum, clock } = bench(recorded);
  for (const jobId of numbers(1, 3)) unmetered.add(anAnswer(jobId));
  await pass(999);
  expect(posts).toEqual([]);
  await pass(1);
  expect(posts.map(({ batch }) => jobIds(batch))).toEqual([[1, 2, 3]]);
  expect([unmetered.queued, sum('posted'), sum('dropped'), clock.timers]).toEqual([0, 3, 0, 0]);
});

test('how many wait is told with each answer; one that leaves no room is told by who had to go for it', () => {
  const { unmetered, events } = bench(recorded, 1);
  unmetered.add(anAnswer(1));
  expect(events).toEqual([{ type: 'unmetered', queued: 1, posted: 0, dropped: 0 }]);
  unmetered.add(anAnswer(2));
  expect(events.slice(1)).toMatchObject([{ queued: 1, dropped: 1, lost: { jobIds: [1] } }]);
});

test('answers of one moment set one timer, and none while they must wait for a post that is out', async () => {
  let answer = (): void => {};
  const { unmetered, clock, pass, timersSet } = bench(
    (batch) =>
      new Promise((resolve) => {
        answer = () => resolve(recorded(batch));
      }),
  );
  for (const jobId of numbers(1, 100)) unmetered.add(anAnswer(jobId));
  expect(timersSet()).toBe(1);
  await pass(1_000);
  unmetered.add(anAnswer(101));
  expect(clock.timers).toBe(0);
  answer();
});

test('a post has seven seconds, and three while the relay stops', async () => {
  const { unmetered, posts, pass } = bench(() => UNREACHABLE);
  unmetered.add(anAnswer(1));
  await pass(1_000);
  unmetered.leave();
  await pass(0);
  expect(posts.map(({ timeoutMs }) => timeoutMs)).toEqual([7_000, 3_000]);
});

test('a stop with nothing left to tell is over at once', async () => {
  const { unmetered } = bench(recorded);
  let isOver = false;
  void unmetered.flush(5_000).then(() => {
    isOver = true;
  });
  await new Promise<void>((resolve) => setImmediate(resolve));
  expect(isOver).toBe(true);
});

test('everything is told since a moment exactly if nothing has waited after it', async () => {
  const { unmetered, pass, clock } = bench(recorded);
  expect(unmetered.isBookedSince(clock.monotonicMs())).toBe(true);
  unmetered.add(anAnswer(1));
  expect(unmetered.isBookedSince(clock.monotonicMs() + 10_000)).toBe(false);
  await pass(1_000);
  const toldMs = clock.monotonicMs();
  await pass(500);
  expect([toldMs - 1, toldMs, toldMs + 500].map((atMs) => unmetered.isBookedSince(atMs))).toEqual([
    ...[false, true, true],
  ]);
});

test('a service that refuses the caller is asked again later, with the same batch: it is not what is in it', async () => {
  const { unmetered, posts, pass } = bench((batch, call) =>
    call === 0 ? { kind: 'refused', content: false } : recorded(batch),
  );
  for (const jobId of numbers(1, 4)) unmetered.add(anAnswer(jobId));
  await pass(1_000);
  expect(posts).toHaveLength(1);
  await pass(2_000);
  expect(posts.map(({ batch }) => jobIds(batch))).toEqual([numbers(1, 4), numbers(1, 4)]);
});

test('a batch has 96 answers at the most', async () => {
  const { unmetered, posts, pass } = bench(recorded);
  for (const jobId of numbers(1, REQUESTS_MAX * 2 + 1)) unmetered.add(anAnswer(jobId));
  await pass(1_000);
  expect(posts.map(({ batch }) => batch.length)).toEqual([96, 96, 1]);
  expect(posts.flatMap(({ batch }) => jobIds(batch))).toEqual(numbers(1, 193));
});

test('a batch has 300 KB at the most, and an answer larger than that goes alone', async () => {
  const { unmetered, posts, pass } = bench(recorded);
  for (const jobId of numbers(1, 4)) unmetered.add(anAnswer(jobId, 'é'.repeat(50 * 1024)));
  unmetered.add(anAnswer(5, 'x'.repeat(BATCH_BYTES_MAX)));
  unmetered.add(anAnswer(6));
  await pass(1_000);
  expect(posts.map(({ batch }) => jobIds(batch))).toEqual([[1, 2], [3, 4], [5], [6]]);
  const bytes = posts.map(({ batch }) => Buffer.byteLength(batch.map(({ json }) => json).join('')));
  expect(bytes.filter((size) => size > BATCH_BYTES_MAX)).toHaveLength(1);
});

test('fault 5: while the service is down, pauses double up to a minute and nothing is lost', async () => {
  let down = true;
  const { unmetered, posts, clock, pass, sum } = bench((batch) => (down ? UNREACHABLE : recorded(batch)));
  for (const jobId of numbers(1, 100)) unmetered.add(anAnswer(jobId));
  const pausesMs: number[] = [];
  for (let post = 1; post <= 9; post += 1) {
    const beforeMs = clock.monotonicMs();
    while (posts.length < post) await pass(500);
    pausesMs.push(clock.monotonicMs() - beforeMs);
  }
  // Half of the full pause, which random = 0 makes the least.
  expect(pausesMs).toEqual([1_000, 1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000, 30_000]);
  expect([unmetered.queued, sum('posted'), sum('dropped')]).toEqual([100, 0, 0]);
  down = false;
  await pass(30_000);
  expect(posts.slice(-2).flatMap(({ batch }) => jobIds(batch))).toEqual(numbers(1, 100));
  expect(unmetered.queued).toBe(0);
});

test('undecided is sent again, before what came later; recorded is not', async () => {
  const { unmetered, posts, pass, sum } = bench((batch, call) =>
    told(batch, 'recorded', call === 0 ? { 2: 'undecided' } : {}),
  );
  for (const jobId of numbers(1, 3)) unmetered.add(anAnswer(jobId));
  await pass(1_000);
  unmetered.add(anAnswer(4));
  await pass(1_000);
  expect(posts.map(({ batch }) => jobIds(batch))).toEqual([
    [1, 2, 3],
    [2, 4],
  ]);
  expect([unmetered.queued, sum('posted')]).toEqual([0, 4]);
});

test('beyond the capacity the oldest are dropped, and every one is counted', async () => {
  const { unmetered, posts, pass, sum } = bench(recorded, 5);
  for (const jobId of numbers(1, 8)) unmetered.add(anAnswer(jobId));
  expect([unmetered.queued, sum('dropped')]).toEqual([5, 3]);
  await pass(1_000);
  expect(posts.map(({ batch }) => jobIds(batch))).toEqual([numbers(4, 8)]);
});

test('what came while a post failed counts for the capacity too', async () => {
  const answer = Promise.withResolvers<UnmeteredOutcome>();
  const { unmetered, posts, pass, sum } = bench(() => answer.promise, 5);
  for (const jobId of numbers(1, 4)) unmetered.add(anAnswer(jobId));
  await pass(1_000);
  for (const jobId of numbers(5, 7)) unmetered.add(anAnswer(jobId));
  answer.resolve(UNREACHABLE);
  await pass(0);
  expect([unmetered.queued, sum('dropped'), sum('posted')]).toEqual([5, 2, 0]);
  await pass(1_000);
  expect(posts.map(({ batch }) => jobIds(batch))).toEqual([numbers(1, 4), numbers(3, 7)]);
});

test('on stop everything is posted at once, several batches side by side', async () => {
  const { unmetered, posts, clock } = bench(recorded);
  for (const jobId of numbers(1, 100)) unmetered.add(anAnswer(jobId));
  const flushed = unmetered.flush(2_000);
  clock.advance(0);
  await flushed;
  expect(posts.map(({ batch, now, atMs }) => [batch.length, now, atMs])).toEqual([
    [96, true, 0],
    [4, true, 0],
  ]);
  expect([unmetered.queued, clock.timers]).toEqual([0, 0]);
});

test('on stop a post on its way is waited for, and what it leaves is posted', async () => {
  const answer = Promise.withResolvers<UnmeteredOutcome>();
  const { unmetered, posts, pass } = bench((batch, call) => (call === 0 ? answer.promise : recorded(batch)));
  unmetered.add(anAnswer(1));
  await pass(1_000);
  unmetered.add(anAnswer(2));
  const flushed = unmetered.flush(2_000);
  await pass(0);
  answer.resolve(UNREACHABLE);
  await pass(0);
  await pass(250);
  await flushed;
  expect(posts.map(({ batch }) => jobIds(batch))).toEqual([[1], [2], [1]]);
  expect(unmetered.queued).toBe(0);
});

test.each(['before', 'during'] as const)(
  'on stop a post that hangs %s it costs no more than the time given, and its answers are lost by name',
  async (when) => {
    const { unmetered, pass, clock, posts, losses } = bench(() => new Promise<UnmeteredOutcome>(() => {}));
    unmetered.add(anAnswer(1));
    if (when === 'before') await pass(1_000);
    let done = false;
    const flushed = unmetered.flush(2_000).then(() => {
      done = true;
    });
    await pass(1_999);
    expect(done).toBe(false);
    await pass(1);
    await flushed;
    expect(posts).toHaveLength(1);
    expect(losses()).toEqual([{ why: 'stopping', jobIds: [1] }]);
    expect([unmetered.queued, clock.timers]).toEqual([0, 0]);
  },
);

test('fault 5: on stop a service that is down is asked until the time is up; what is left is lost by name', async () => {
  const { unmetered, posts, clock, pass, losses, sum } = bench(() => UNREACHABLE);
  for (const jobId of numbers(1, 150)) unmetered.add(anAnswer(jobId));
  const flushed = unmetered.flush(2_000);
  for (let step = 0; step < 20; step += 1) await pass(100);
  await flushed;
  expect(posts.length).toBeGreaterThan(8);
  expect(sum('dropped')).toBe(150);
  expect(losses()).toMatchObject([{ why: 'stopping' }]);
  expect(losses()[0]?.jobIds, 'as many as a line has room for').toHaveLength(100);
  unmetered.add(anAnswer(151));
  expect(losses().at(-1), 'what comes after the stop').toEqual({ why: 'stopping', jobIds: [151] });
  expect([unmetered.queued, clock.timers]).toEqual([0, 0]);
});

test('from the beginning of a stop nothing waits: what paused is told as soon as the service is back', async () => {
  let down = true;
  const { unmetered, pass, sum } = bench((batch) => (down ? UNREACHABLE : recorded(batch)));
  for (const jobId of numbers(1, 300)) unmetered.add(anAnswer(jobId));
  // Far into the pauses of a minute.
  for (let step = 0; step < 120; step += 1) await pass(1_000);
  unmetered.leave();
  await pass(1_000);
  down = false;
  await pass(250);
  expect([unmetered.queued, sum('posted'), sum('dropped')]).toEqual([0, 300, 0]);
});

test.each([{ content: false }, { content: true }])(
  'a service that refuses everything (content: $content) is left alone with growing pauses, and all is told when it takes them',
  async ({ content }) => {
    let refuses = true;
    const { unmetered, posts, pass, sum } = bench((batch) =>
      refuses ? { kind: 'refused', content } : recorded(batch),
    );
    for (const jobId of numbers(1, 300)) unmetered.add(anAnswer(jobId));
    for (let second = 0; second < 1_800; second += 1) await pass(1_000);
    expect([unmetered.queued, sum('posted'), sum('dropped')]).toEqual([300, 0, 0]);
    expect(posts.length, 'in half an hour').toBeLessThan(150);
    refuses = false;
    for (let second = 0; second < 120; second += 1) await pass(1_000);
    expect([unmetered.queued, sum('posted'), sum('dropped')]).toEqual([0, 300, 0]);
  },
);

test('a batch that is too large for somebody on the way is told in halves', async () => {
  const { unmetered, pass, sum, posts } = bench((batch) =>
    batch.length > 20 ? { kind: 'refused', content: true } : recorded(batch),
  );
  for (const jobId of numbers(1, 300)) unmetered.add(anAnswer(jobId));
  await pass(1_000);
  expect([unmetered.queued, sum('posted'), sum('dropped')]).toEqual([0, 300, 0]);
  expect(posts.length).toBeLessThan(50);
});

test.each(['refused with its batch', 'invalid by name'])(
  'one answer that is %s is found, tried again, and given up by name; all others are told',
  async (how) => {
    const { unmetered, posts, pass, sum, losses } = bench((batch) => {
      const isThere = batch.some(({ jobId }) => jobId === 77);
      if (how !== 'invalid by name') return isThere ? { kind: 'refused', content: true } : recorded(batch);
      return told(batch, 'recorded', { 77: 'invalid' });
    });
    for (const jobId of numbers(1, 300)) unmetered.add(anAnswer(jobId));
    await pass(1_000);
    expect([unmetered.queued, sum('posted')]).toEqual([1, 299]);
    // Others come and are taken, so it is not the service that is in trouble.
    for (let minute = 1; minute <= 20; minute += 1) {
      unmetered.add(anAnswer(1_000 + minute));
      for (let second = 0; second < 60; second += 1) await pass(1_000);
    }
    expect([unmetered.queued, sum('posted'), sum('dropped')]).toEqual([0, 319, 1]);
    expect(losses()).toEqual([{ why: 'refused', jobIds: [77] }]);
    const tries = posts.filter(({ batch }) => batch.some(({ jobId }) => jobId === 77));
    expect(tries.length).toBeGreaterThanOrEqual(REFUSALS_MAX);
    if (how === 'invalid by name') expect(tries).toHaveLength(REFUSALS_MAX);
  },
);

test('a root whose counters are fought for holds up no other root', async () => {
  const { unmetered, pass, sum, posts } = bench((batch) => ({
    kind: 'reported',
    outcomes: new Map(
      batch.map(({ jobId, json }) => [
        jobId,
        JSON.parse(json).request.rootNamespaceId === 1 ? 'undecided' : 'recorded',
      ]),
    ),
  }));
  for (const jobId of numbers(1, 120)) unmetered.add(anAnswer(jobId, 'unit', 1));
  for (const jobId of numbers(121, 320)) unmetered.add(anAnswer(jobId, 'unit', 2));
  await pass(1_000);
  expect([unmetered.queued, sum('posted')]).toEqual([120, 200]);
  const postsBefore = posts.length;
  for (let second = 0; second < 300; second += 1) await pass(1_000);
  expect(posts.length - postsBefore, 'two batches, with growing pauses').toBeLessThan(30);
});

const anOutcome = fc.constantFrom('recorded', 'undecided', 'invalid', 'unreachable', 'refused', 'too large');

test('every decision is waiting, posted, journaled or lost, and never two of these, whatever function and journal do', async () => {
  const run = fc.asyncProperty(
    fc.array(anOutcome, { minLength: 1, maxLength: 12 }),
    fc.array(fc.boolean(), { minLength: 1, maxLength: 5 }),
    fc.array(fc.record({ added: fc.nat({ max: 12 }), passMs: fc.nat({ max: 3_000 }) }), { maxLength: 15 }),
    async (outcomes, journalTakes, steps) => {
      let writes = 0;
      const { unmetered, pass, sum } = bench(
        (batch, call) => {
          const outcome = outcomes[call % outcomes.length] ?? 'unreachable';
          if (outcome === 'unreachable') return UNREACHABLE;
          if (outcome === 'refused' || outcome === 'too large')
            return { kind: 'refused', content: outcome === 'too large' };
          return told(batch, 'recorded', { [batch[0]?.jobId ?? 0]: outcome });
        },
        20,
        async () => {
          writes += 1;
          if (journalTakes[writes % journalTakes.length] !== true) throw new Error('no table');
        },
      );
      let added = 0;
      const isWhole = (): void =>
        expect(sum('posted') + sum('journaled') + sum('dropped') + unmetered.queued).toBe(added);
      for (const step of steps) {
        for (const _ of numbers(1, step.added)) {
          added += 1;
          unmetered.add(anAnswer(added));
        }
        isWhole();
        await pass(step.passMs);
        isWhole();
      }
      const flushed = unmetered.flush(2_000);
      for (const _ of numbers(1, 20)) await pass(100);
      await flushed;
      isWhole();
      expect(unmetered.queued).toBe(0);
    },
  );
  await fc.assert(run, { numRuns: propertyRuns(100) });
});

test('two answers about one job go in two batches, and each is matched with its own', async () => {
  const { unmetered, posts, pass } = bench(recorded);
  unmetered.add(anAnswer(1, 'first'));
  unmetered.add(anAnswer(1, 'second'));
  unmetered.add(anAnswer(2, 'other', 2));
  await pass(1_000);
  expect(posts.map(({ batch }) => jobIds(batch))).toEqual([[1, 2], [1]]);
  expect(unmetered.queued).toBe(0);
});
