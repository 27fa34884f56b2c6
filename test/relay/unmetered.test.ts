import { expect, test } from 'vitest';
import {
  BATCH_BYTES_MAX,
  REQUESTS_MAX,
  type UnmeteredAnswer,
  type UnmeteredResponse,
} from '../../functions/admit/contract.ts';
import type { RelayEvent } from '../../relay/events.ts';
import { createUnmetered } from '../../relay/unmetered.ts';
import { FakeClock } from './streams/support/fake-clock.ts';

type Results = UnmeteredResponse['results'] | undefined;
type Outcome = 'recorded' | 'undecided' | 'invalid';

const anAnswer = (jobId: number, jobName = 'unit'): UnmeteredAnswer => ({
  request: { jobId, jobName },
  answered: 'admitted',
  cause: 'deadline',
  answeredAtMs: 1,
});
const jobIds = (batch: readonly string[]): number[] => batch.map((json) => JSON.parse(json).request.jobId);
const numbers = (from: number, to: number): number[] =>
  Array.from({ length: to - from + 1 }, (_, index) => from + index);

/** A queue before a service that answers with `says`, per call counted from 0. */
function bench(
  says: (batch: readonly string[], call: number) => Results | Promise<Results>,
  capacity = 1_000,
) {
  const clock = new FakeClock();
  const events: Extract<RelayEvent, { type: 'unmetered' }>[] = [];
  const posts: { readonly batch: readonly string[]; readonly timeoutMs: number; readonly atMs: number }[] =
    [];
  const unmetered = createUnmetered({
    clock,
    capacity,
    random: () => 0,
    observe: (event) => {
      if (event.type === 'unmetered') events.push(event);
    },
    post: async (batch, timeoutMs) => {
      posts.push({ batch, timeoutMs, atMs: clock.monotonicMs() });
      return says(batch, posts.length - 1);
    },
  });
  const sum = (what: 'posted' | 'dropped') => events.reduce((total, event) => total + event[what], 0);
  /** Moves to the next timer and waits until what it started is over. */
  const pass = async (ms: number): Promise<void> => {
    clock.advance(ms);
    for (let turn = 0; turn < 20; turn += 1) await Promise.resolve();
  };
  return { clock, events, posts, unmetered, sum, pass };
}

const outcome = (batch: readonly string[], kind: Outcome): Results => batch.map(() => ({ outcome: kind }));
const recorded = (batch: readonly string[]): Results => outcome(batch, 'recorded');

test('answers of one second go together, oldest first, and are then forgotten', async () => {
  const { unmetered, posts, pass, sum, clock } = bench(recorded);
  for (const jobId of numbers(1, 3)) unmetered.add(anAnswer(jobId));
  await pass(999);
  expect(posts).toEqual([]);
  await pass(1);
  expect(posts.map(({ batch }) => jobIds(batch))).toEqual([[1, 2, 3]]);
  expect([unmetered.queued, sum('posted'), sum('dropped'), clock.timers]).toEqual([0, 3, 0, 0]);
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
  const bytes = posts.map(({ batch }) => Buffer.byteLength(batch.join('')));
  expect(bytes.filter((size) => size > BATCH_BYTES_MAX)).toHaveLength(1);
});

test('fault 5: while the service is down, pauses double up to a minute and nothing is lost', async () => {
  let down = true;
  const { unmetered, posts, clock, pass, sum } = bench((batch) => (down ? undefined : recorded(batch)));
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

test('undecided is sent again, before what came later; recorded and invalid are not', async () => {
  const { unmetered, posts, pass, sum } = bench((batch, call) =>
    call === 0
      ? [{ outcome: 'recorded' }, { outcome: 'undecided' }, { outcome: 'invalid' }]
      : recorded(batch),
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
  const answer = Promise.withResolvers<Results>();
  const { unmetered, posts, pass, sum } = bench(() => answer.promise, 5);
  for (const jobId of numbers(1, 4)) unmetered.add(anAnswer(jobId));
  await pass(1_000);
  for (const jobId of numbers(5, 7)) unmetered.add(anAnswer(jobId));
  answer.resolve(undefined);
  await pass(0);
  expect([unmetered.queued, sum('dropped'), sum('posted')]).toEqual([5, 2, 0]);
  await pass(1_000);
  expect(posts.map(({ batch }) => jobIds(batch))).toEqual([numbers(1, 4), numbers(3, 7)]);
});

test('on stop everything is posted at once, with the time that is left', async () => {
  const { unmetered, posts, clock } = bench(recorded);
  for (const jobId of numbers(1, 100)) unmetered.add(anAnswer(jobId));
  await unmetered.flush(2_000);
  expect(posts.map(({ batch, timeoutMs, atMs }) => [batch.length, timeoutMs, atMs])).toEqual([
    [96, 2_000, 1_000],
    [4, 2_000, 1_000],
  ]);
  expect([unmetered.queued, clock.timers]).toEqual([0, 0]);
});

test('on stop a post on its way is waited for, and what it leaves is posted', async () => {
  const answer = Promise.withResolvers<Results>();
  const { unmetered, posts, pass } = bench((batch, call) => (call === 0 ? answer.promise : recorded(batch)));
  unmetered.add(anAnswer(1));
  await pass(1_000);
  unmetered.add(anAnswer(2));
  const flushed = unmetered.flush(2_000);
  expect(posts).toHaveLength(1);
  answer.resolve(undefined);
  await flushed;
  expect(posts.map(({ batch }) => jobIds(batch))).toEqual([[1], [1, 2]]);
  expect(unmetered.queued).toBe(0);
});

test.each(['before', 'during'] as const)(
  'on stop a post that hangs %s it costs no more than the time given',
  async (when) => {
    const { unmetered, pass, clock, posts } = bench(() => new Promise<Results>(() => {}));
    unmetered.add(anAnswer(1));
    if (when === 'before') await pass(1_000);
    let done = false;
    const flushed = unmetered.flush(2_000).then(() => {
      done = true;
    });
    await pass(1_999);
    expect(done).toBe(false);
    clock.advance(1);
    await flushed;
    expect(posts).toHaveLength(1);
  },
);

test('fault 5: on stop a service that is down is asked once more, not in a loop, and no timer stays', async () => {
  const { unmetered, posts, clock } = bench(() => undefined);
  unmetered.add(anAnswer(1));
  await unmetered.flush(2_000);
  expect([posts.length, unmetered.queued, clock.timers]).toEqual([1, 1, 0]);
  unmetered.add(anAnswer(2));
  expect(clock.timers, 'what comes after the stop starts nothing').toBe(0);
});
