/** What becomes of a stream once it is answered: whether the router has the answer, and what place it takes meanwhile. */
import { expect, test } from 'vitest';
import { STATUS } from '../../../relay/router/router.ts';
import { POOL_SIZES } from '../../../relay/streams/pool.ts';
import { poolBench } from '../../support/relay/pool-bench.ts';

/** A pool with one question that was answered, and its call. */
async function answered() {
  const bench = poolBench();
  await bench.open();
  const [call] = bench.calls;
  if (call === undefined) throw new Error('no call was made');
  call.ask();
  await bench.questions[0]?.decide();
  return { ...bench, call };
}

test('an answer is heard when the router ends the stream in peace', async () => {
  const { call, heard } = await answered();
  call.take().end();
  expect(heard).toEqual([true]);
});

test.each([
  { code: STATUS.UNAVAILABLE, why: 'the connection was reset' },
  { code: STATUS.CANCELLED, why: 'the router gave the question up' },
  { code: STATUS.DEADLINE_EXCEEDED, why: 'the answer came too late' },
])(
  'an answer that was sent is not heard for sure when the stream ends with $code: $why',
  async ({ code }) => {
    const { call, heard } = await answered();
    call.take().end(code);
    expect(heard).toEqual([false]);
  },
);

test('a router that never ends a stream has the answer: the stream is cancelled after 10 s, and heard', async () => {
  const { call, heard, clock } = await answered();
  call.take();
  clock.advance(10_000);
  expect(call.ended).toBe(false);
  clock.advance(1_000);
  expect(call.ended).toBe(true);
  expect(heard).toEqual([true]);
});

test('an answer that the transport does not take is waited for, and not heard when it is given up', async () => {
  const { call, heard, clock } = await answered();
  clock.advance(10_000);
  expect(call.ended).toBe(false);
  clock.advance(1_000);
  expect(call.ended).toBe(true);
  expect(heard).toEqual([false]);
});

test('a thousand answered streams that the router does not end leave room for a thousand questions', async () => {
  const bench = poolBench();
  await bench.open();
  let asked = 0;
  while (asked < 3 * POOL_SIZES.openMax) {
    const waiting = bench.free();
    expect(waiting.length, `streams that wait after ${asked} questions`).toBeGreaterThan(0);
    for (const call of waiting) call.ask();
    asked += waiting.length;
    for (const question of bench.questions.splice(0)) await question.decide();
    await bench.settle();
  }
  expect(bench.pool.status()).toMatchObject({ state: 'open', busy: 0 });
});

test('a router that never ends a stream is not given calls without end', async () => {
  const bench = poolBench();
  await bench.open();
  for (;;) {
    const waiting = bench.free();
    if (waiting.length === 0) break;
    for (const call of waiting) call.ask();
    for (const question of bench.questions.splice(0)) await question.decide();
    for (const call of waiting) call.take();
    await bench.settle();
  }
  expect(bench.calls.length).toBeLessThanOrEqual(4 * POOL_SIZES.openMax);
  // And once they are given up there is room again.
  bench.clock.advance(11_000);
  await bench.settle();
  bench.clock.advance(1_000);
  await bench.settle();
  expect(bench.free().length).toBeGreaterThan(0);
});

test('a pool that is full of questions opens streams again as they are answered', async () => {
  const bench = poolBench({ sizes: { start: 8, max: 8, openMax: 16 } });
  await bench.open();
  for (let packet = 0; packet < 3; packet += 1) {
    for (const call of bench.free()) if (bench.questions.length < 16) call.ask();
    await bench.settle();
  }
  expect(bench.pool.status()).toMatchObject({ waiting: 0, busy: 16 });
  for (const question of bench.questions) await question.decide();
  bench.clock.advance(100);
  await bench.settle();
  expect(bench.pool.status()).toMatchObject({ waiting: 8, busy: 0 });
});
