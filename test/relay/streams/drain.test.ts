/** A drain: what the router may still ask, and how long it takes at most. */
import { expect, test } from 'vitest';
import { poolBench } from '../../support/relay/pool-bench.ts';

/** A pool of eight waiting streams that has begun to drain. */
async function draining(options: Parameters<typeof poolBench>[0] = {}) {
  const bench = poolBench(options);
  await bench.open();
  const leave = { done: false };
  const drain = bench.pool.drain().then(() => {
    leave.done = true;
  });
  await bench.settle();
  return { ...bench, leave, drain };
}

test('waiting streams are left to the router for 3 s, and none is opened', async () => {
  const { calls, live, questions, clock, settle, heard } = await draining();
  expect(live()).toHaveLength(8);
  clock.advance(2_900);
  calls[0]?.ask();
  await settle();
  expect(calls).toHaveLength(8);
  await questions[0]?.decide();
  expect(calls[0]?.answered).toBe('admitted');
  calls[0]?.end();
  expect(heard).toEqual([true]);
});

test('after 3 s streams without a question are cancelled, and one with a question is answered first', async () => {
  const { calls, live, questions, clock, settle, leave, drain } = await draining();
  calls[0]?.ask();
  clock.advance(3_000);
  await settle();
  expect(live()).toEqual([calls[0]]);
  expect(leave.done).toBe(false);
  await questions[0]?.decide();
  expect(calls[0]?.answered).toBe('admitted');
  calls[0]?.end();
  await drain;
  expect(clock.timers).toBe(0);
});

test('a question that arrives in the moment of the cancelling is read first', async () => {
  const { calls, clock, questions, settle } = await draining();
  clock.advance(3_000);
  calls[5]?.ask();
  await settle();
  await questions[0]?.decide();
  expect(calls[5]?.answered).toBe('admitted');
});

test('the end comes at once when every stream has had its question', async () => {
  const { calls, questions, settle, drain, clock } = await draining();
  for (const call of calls) call.ask();
  await settle();
  for (const question of questions) await question.decide();
  for (const call of calls) call.take().end();
  await drain;
  expect(clock.timers).toBe(0);
});

test('a pool without a stream at the router has nothing to wait for', async () => {
  const bench = poolBench({ acceptAll: false });
  bench.pool.start();
  await bench.settle();
  await bench.pool.drain();
  expect(bench.live()).toEqual([]);
});

test('the end comes after 7.25 s even if a decision never does', async () => {
  const { calls, clock, live, settle, drain } = await draining();
  calls[0]?.ask();
  await settle();
  clock.advance(7_250);
  await drain;
  expect(live()).toEqual([]);
});

test('a drain before the start has nothing to wait for', async () => {
  await poolBench().pool.drain();
});

test('the end of each stream is observed while draining, and none of them counts as a failure', async () => {
  const { calls, questions, settle, drain, ofType } = await draining();
  calls[0]?.ask();
  await settle();
  await questions[0]?.decide();
  calls[0]?.take().end();
  for (const call of calls.slice(1)) call.end(14, 'gone');
  await drain;
  expect(ofType('stream_ended')).toHaveLength(8);
  expect(ofType('stream_ended')[0]).toMatchObject({ code: 0, asked: true, answered: 'admitted' });
  expect(ofType('stream_ended').filter(({ failed }) => failed)).toEqual([]);
});
