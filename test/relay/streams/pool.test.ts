import { expect, test } from 'vitest';
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
  expect(bench.ofType('connected')).toEqual([{ type: 'connected', downMs: 1_000 }]);
});

test('a question on the first stream is proof enough to open the others', async () => {
  const bench = poolBench();
  bench.pool.start();
  bench.calls[0]?.ask();
  await bench.settle();
  expect(bench.calls).toHaveLength(9);
  expect(bench.pool.status()).toMatchObject({ state: 'open', waiting: 8, busy: 1, wanted: 8 });
});

test('the next stream opens as soon as one is taken, before its answer', async () => {
  const bench = poolBench();
  await bench.open();
  bench.calls[3]?.ask();
  await bench.settle();
  expect(bench.calls).toHaveLength(9);
  expect(bench.pool.status()).toMatchObject({ waiting: 8, busy: 1 });
});

test('the answer goes out on the stream that asked, and is heard', async () => {
  const bench = poolBench();
  await bench.open();
  bench.calls[2]?.ask('job 2');
  bench.calls[5]?.ask('job 5');
  await bench.questions[1]?.decide({ outcome: 'rejected', reason: 'no budget' });
  await bench.questions[0]?.decide();
  expect(bench.questions.map((question) => question.text)).toEqual(['job 2', 'job 5']);
  expect(bench.calls[2]?.answered).toBe('admitted');
  expect(bench.calls[5]?.answered).toBe('rejected: no budget');
  expect(bench.heard, 'nobody knows before the router ends the stream').toEqual([]);
  bench.calls[5]?.end();
  bench.calls[2]?.end();
  expect(bench.heard).toEqual([true, true]);
});

test('a second question on a used stream is never decided', async () => {
  const bench = poolBench();
  await bench.open();
  bench.calls[0]?.ask('first').ask('second');
  expect(bench.questions.map((question) => question.text)).toEqual(['first']);
});

test('a decision for a router that has gone is told as not heard', async () => {
  const bench = poolBench();
  await bench.open();
  bench.calls[0]?.ask();
  bench.calls[0]?.end(STATUS.DEADLINE_EXCEEDED);
  await bench.questions[0]?.decide();
  expect(bench.heard).toEqual([false]);
  expect(bench.pool.status().busy).toBe(0);
});

test('an answering core that fails costs its own stream only', async () => {
  const bench = poolBench({ answer: () => Promise.reject(new Error('broken core')) });
  await bench.open();
  bench.calls[0]?.ask();
  await bench.settle();
  expect(bench.calls[0]?.ended).toBe(true);
  expect(bench.pool.status()).toMatchObject({ state: 'open', busy: 0, waiting: 8 });
});

test('streams that come of age are replaced without a failure, all at once or one by one', async () => {
  const bench = poolBench();
  await bench.open();
  bench.clock.advance(60_000);
  for (const call of bench.live()) call.end();
  await bench.settle();
  bench.clock.advance(100);
  await bench.settle();
  expect(bench.live()).toHaveLength(8);
  expect(bench.ofType('backing_off')).toEqual([]);
  expect(bench.pool.status()).toMatchObject({ state: 'open', wanted: 8 });
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

test('a router that gives one question up does not stop the others', async () => {
  const bench = poolBench();
  await bench.open();
  bench.calls[0]?.ask();
  bench.calls[0]?.end(STATUS.CANCELLED);
  bench.calls[1]?.ask();
  bench.calls[1]?.end(STATUS.DEADLINE_EXCEEDED);
  bench.calls[2]?.ask();
  await bench.questions[2]?.decide();
  bench.calls[2]?.end(STATUS.INVALID_ARGUMENT, 'reason too long');
  await bench.settle();
  expect(bench.ofType('backing_off')).toEqual([]);
  expect(bench.pool.status()).toMatchObject({ state: 'open', waiting: 8 });
});

test('a question beyond the message limit stops nobody, and its size is told', async () => {
  const bench = poolBench();
  await bench.open();
  bench.calls[0]?.listener.onOversized(5_000_000);
  bench.calls[0]?.end(STATUS.RESOURCE_EXHAUSTED, 'too large');
  await bench.settle();
  bench.clock.advance(100);
  await bench.settle();
  expect(bench.ofType('unreadable')).toMatchObject([{ sizeBytes: 5_000_000 }]);
  expect(bench.ofType('backing_off')).toEqual([]);
  expect(bench.live()).toHaveLength(8);
});

test('a router that ends every stream at once is knocked at some ten times a second, not in a loop', async () => {
  const bench = poolBench({ acceptAll: false });
  bench.pool.start();
  for (let step = 0; step < 6_000; step += 1) {
    for (const call of bench.live()) call.accept().end();
    await bench.settle();
    bench.clock.advance(10);
  }
  // One minute.
  expect(bench.calls.length).toBeLessThan(700);
  expect(bench.ofType('backing_off').length).toBeGreaterThan(0);
});

test('an open without an answer from the network does not hang for ever', async () => {
  const bench = poolBench({ acceptAll: false });
  bench.pool.start();
  bench.clock.advance(26_000);
  expect(bench.calls[0]?.ended).toBe(true);
  expect(bench.ofType('backing_off')).toHaveLength(1);
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

test('calls that a full connection holds back do not count as waiting', async () => {
  let queued = 0;
  const bench = poolBench({ queuedCalls: () => queued });
  queued = 3;
  await bench.open();
  expect(bench.pool.status()).toMatchObject({ open: 5, waiting: 5 });
  expect(bench.ofType('streams').at(-1)).toMatchObject({ open: 5, waiting: 5 });
});
