import { describe, expect, test } from 'vitest';
import { backoffMs } from '../../../relay/connection.ts';
import { STATUS } from '../../../relay/router/router.ts';

import { poolBench } from '../../support/relay/pool-bench.ts';

const ADMITTED = { outcome: 'admitted' } as const;

test('only one stream knocks until the router has shown that it takes us', async () => {
  const bench = poolBench();
  bench.pool.start();
  await bench.settle();
  expect(bench.calls).toHaveLength(1);
  bench.clock.advance(999);
  await bench.settle();
  expect(bench.calls).toHaveLength(1);
  bench.clock.advance(1);
  await bench.settle();
  expect(bench.calls).toHaveLength(8);
  expect(bench.pool.status()).toMatchObject({
    state: 'open',
    open: 8,
    waiting: 8,
    busy: 0,
    wanted: 8,
    downSinceMs: undefined,
  });
  expect(bench.ofType('connected')).toEqual([{ type: 'connected', downMs: 1_000, again: false }]);
});

test('an answering core that fails costs its own stream only', async () => {
  const bench = poolBench({ answer: () => Promise.reject(new Error('broken core')) });
  await bench.open();
  bench.calls[0]?.ask();
  await bench.settle();
  expect(bench.calls[0]?.ended).toBe(true);
  expect(bench.pool.status()).toMatchObject({ state: 'open', busy: 0, waiting: 8 });
});

test('a burst doubles the pool until a quarter waits, to 256 and no further', async () => {
  const bench = poolBench();
  await bench.open();
  const asked = new Set<object>();
  const sizes: number[] = [];
  for (let packet = 0; packet < 7; packet += 1) {
    for (const call of bench.live().filter((live) => !asked.has(live))) {
      asked.add(call);
      call.ask();
    }
    await bench.settle();
    sizes.push(bench.pool.status().wanted);
  }
  expect(sizes).toEqual([16, 32, 64, 128, 256, 256, 256]);
  expect(bench.pool.status().open).toBeLessThanOrEqual(1_024);
});
test('after the burst the pool shrinks slowly, and cuts off no stream that waits', async () => {
  const bench = poolBench({ sizes: { start: 8, max: 64, openMax: 128 } });
  await bench.open();
  for (let packet = 0; packet < 3; packet += 1) {
    for (const call of bench.free()) call.ask();
    for (const question of bench.questions.splice(0)) await question.decide();
    for (const call of bench.live()) if (call.answered !== undefined) call.end();
    await bench.settle();
  }
  expect(bench.pool.status().wanted).toBe(64);
  const waiting = bench.live().length;
  bench.clock.advance(30_000);
  expect(bench.pool.status().wanted).toBe(56);
  bench.clock.advance(600_000);
  expect(bench.pool.status().wanted).toBe(8);
  expect(bench.live()).toHaveLength(waiting);
});

test('a lost router is knocked at once per waiting time, not once per stream', async () => {
  const bench = poolBench();
  await bench.open();
  for (const call of bench.live()) call.end(STATUS.UNAVAILABLE, 'gone');
  await bench.settle();
  expect(bench.live()).toHaveLength(0);
  expect(bench.ofType('backing_off')).toEqual([
    { type: 'backing_off', code: 14, details: 'gone', attempt: 1, delayMs: 150 },
  ]);
  for (let attempt = 2; attempt <= 9; attempt += 1) {
    bench.clock.advance(bench.ofType('backing_off').at(-1)?.delayMs ?? 0);
    expect(bench.live()).toHaveLength(1);
    bench.live()[0]?.end(STATUS.UNAVAILABLE, 'still gone');
  }
  expect(bench.ofType('backing_off').map((event) => event.delayMs)).toEqual([
    150, 250, 450, 850, 1_050, 1_050, 1_050, 1_050, 1_050,
  ]);
  bench.clock.advance(6_000);
  bench.clock.advance(1_000);
  await bench.settle();
  expect(bench.live()).toHaveLength(8);
  expect(bench.ofType('connected').at(-1)?.downMs).toBeGreaterThan(0);
});

test('questions whose jobs wait for room take nobody’s place', async () => {
  let parked = 0;
  const bench = poolBench({ sizes: { start: 2, max: 4, openMax: 4 }, parked: () => parked });
  await bench.open();
  const asked = new Set<(typeof bench.calls)[number]>();
  for (let question = 0; question < 6; question += 1) {
    const free = bench.calls.filter((call) => !asked.has(call));
    free[0]?.ask(`job ${question}`);
    if (free[0] !== undefined) asked.add(free[0]);
    await bench.settle();
  }
  expect(bench.questions, 'all places are taken').toHaveLength(4);
  parked = 3;
  await bench.questions[0]?.decide();
  await bench.settle();
  bench.clock.advance(100);
  await bench.settle();
  const { waiting, busy } = bench.pool.status();
  expect({ busy, waiting }).toEqual({ busy: 3, waiting: 4 });
});

test('whoever keeps a question open hears that the router has gone, once, and not after an answer', async () => {
  const gone: string[] = [];
  const bench = poolBench({
    answer: (question) => {
      const text = Buffer.from(question.bytes).toString();
      question.onGone = () => gone.push(text);
      return text === 'kept'
        ? new Promise(() => {})
        : Promise.resolve({ answer: ADMITTED, delivered: () => {} });
    },
  });
  await bench.open();
  bench.calls[2]?.ask('kept');
  bench.calls[5]?.ask('answered');
  await bench.settle();
  for (const call of [bench.calls[2], bench.calls[5]]) call?.end(STATUS.CANCELLED);
  expect(gone).toEqual(['kept']);
});

/** The connection's states: how long its pauses are, what ends them, and when a refusal is not worth one. */
describe('connection states', () => {
  test.each([
    { code: STATUS.UNAVAILABLE, attempt: 1, ms: [100, 200], guarantee: 'a lost router is tried again soon' },
    { code: STATUS.UNAVAILABLE, attempt: 4, ms: [100, 1_600], guarantee: 'the span doubles' },
    { code: STATUS.UNIMPLEMENTED, attempt: 1, ms: [1_000, 2_000], guarantee: 'a refusal waits 1 to 2 s' },
    { code: STATUS.PERMISSION_DENIED, attempt: 9, ms: [1_000, 30_000], guarantee: 'and half a minute' },
  ])('code $code, attempt $attempt waits $ms ms: $guarantee', ({ code, attempt, ms }) => {
    expect([backoffMs(code, attempt, () => 0), backoffMs(code, attempt, () => 1)]).toEqual(ms);
  });

  test('a pool with streams whose next 33 are all refused stops opening for a while, and answers the others', async () => {
    const bench = poolBench();
    await bench.open();
    const [kept] = bench.live();
    for (let waves = 0; waves < 5 && bench.ofType('backing_off').length === 0; waves += 1) {
      for (const call of bench.live()) if (call !== kept) call.end(STATUS.UNAUTHENTICATED, 'revoked');
      bench.clock.advance(200);
      await bench.settle();
    }
    expect(bench.ofType('backing_off')).toMatchObject([{ code: 16, details: 'revoked', attempt: 1 }]);
    kept?.ask();
    await bench.questions[0]?.decide();
    expect(kept?.answered).toBe('admitted');
  });
});

/** What becomes of a stream once it is answered: whether the router has the answer, and what place it takes meanwhile. */
describe('answered streams', () => {
  async function answered() {
    const bench = poolBench();
    await bench.open();
    const [call] = bench.calls;
    if (call === undefined) throw new Error('no call was made');
    call.ask();
    await bench.questions[0]?.decide();
    return { ...bench, call };
  }

  test.each([
    { code: STATUS.UNAVAILABLE, why: 'the connection was reset' },
    { code: STATUS.CANCELLED, why: 'the router gave the question up' },
    { code: STATUS.DEADLINE_EXCEEDED, why: 'the answer came too late' },
  ])(
    'an answer that was sent is not heard for sure when the stream ends with $code: $why',
    async ({ code }) => {
      const { call, heard } = await answered();
      call.end(code);
      expect(heard).toEqual([false]);
    },
  );

  test('a router that never ends a stream has the answer: the stream is cancelled after 10 s, and heard', async () => {
    const { call, heard, clock } = await answered();
    clock.advance(10_000);
    expect(call.ended).toBe(false);
    clock.advance(1_000);
    expect(call.ended).toBe(true);
    expect(heard).toEqual([true]);
  });
});

/** A drain: what the router may still ask, and how long it takes at most. */
describe('a drain', () => {
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

  test('the end comes after 7.25 s even if a decision never does', async () => {
    const { calls, clock, live, settle, drain } = await draining();
    calls[0]?.ask();
    await settle();
    clock.advance(7_250);
    await drain;
    expect(live()).toEqual([]);
  });
});
