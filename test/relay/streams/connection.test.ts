/** The connection's states: how long its pauses are, what ends them, and when a refusal is not worth one. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { STATUS } from '../../../relay/router/router.ts';
import { backoffMs } from '../../../relay/streams/connection.ts';
import { poolBench } from '../../support/relay/pool-bench.ts';

/** A pool whose token the router refuses. */
async function refused(code: number) {
  const token = { replaced: false, looks: 0 };
  const bench = poolBench({
    tokenReplaced: () => {
      token.looks += 1;
      return token.replaced;
    },
  });
  await bench.open();
  for (const call of bench.live()) call.end(code, 'refused');
  await bench.settle();
  expect(bench.pool.status().state).toBe('backing_off');
  return { ...bench, token };
}

test.each([STATUS.UNAUTHENTICATED, STATUS.PERMISSION_DENIED, STATUS.NOT_FOUND])(
  'a new token ends the pause after code %i within a second, and past refusals are forgotten',
  async (code) => {
    const { clock, live, token, ofType } = await refused(code);
    for (let tries = 0; tries < 4; tries += 1) {
      clock.advance(ofType('backing_off').at(-1)?.delayMs ?? 0);
      live()[0]?.end(code, 'refused');
    }
    expect(ofType('backing_off').at(-1)?.delayMs).toBeGreaterThan(5_000);
    token.replaced = true;
    clock.advance(1_000);
    expect(live()).toHaveLength(1);
    live()[0]?.end(code, 'refused as well');
    expect(ofType('backing_off').map(({ attempt }) => attempt)).toEqual([1, 2, 3, 4, 5, 1]);
  },
);

test('nobody looks at the token while nothing is refused', async () => {
  const { clock, token } = await refused(STATUS.UNAVAILABLE);
  clock.advance(60_000);
  expect(token.looks).toBe(0);
});

test('the looking ends with the pause', async () => {
  const { clock, token } = await refused(STATUS.UNAUTHENTICATED);
  clock.advance(1_400);
  const { looks } = token;
  clock.advance(60_000);
  expect(looks).toBe(1);
  expect(token.looks).toBe(looks);
});

test('a probe is no stream at the router until it has proved to be one', async () => {
  const bench = poolBench();
  bench.pool.start();
  await bench.settle();
  expect(bench.calls).toHaveLength(1);
  expect(bench.pool.status()).toMatchObject({ open: 0, waiting: 0 });
  expect(bench.ofType('streams').at(-1)).toMatchObject({ open: 0, waiting: 0 });
  bench.clock.advance(1_000);
  await bench.settle();
  expect(bench.pool.status()).toMatchObject({ open: 8, waiting: 8 });
});

test.each([
  { code: STATUS.UNAVAILABLE, attempt: 1, ms: [100, 200], guarantee: 'a lost router is tried again soon' },
  { code: STATUS.UNAVAILABLE, attempt: 4, ms: [100, 1_600], guarantee: 'the span doubles' },
  { code: STATUS.UNAVAILABLE, attempt: 20, ms: [100, 2_000], guarantee: 'two seconds are the most' },
  { code: STATUS.UNIMPLEMENTED, attempt: 1, ms: [1_000, 2_000], guarantee: 'a refusal waits 1 to 2 s' },
  { code: STATUS.RESOURCE_EXHAUSTED, attempt: 9, ms: [1_000, 10_000], guarantee: 'and 10 s at most' },
  { code: STATUS.UNAUTHENTICATED, attempt: 2, ms: [1_000, 4_000], guarantee: 'a refused token likewise' },
  { code: STATUS.PERMISSION_DENIED, attempt: 9, ms: [1_000, 60_000], guarantee: 'and a minute at most' },
])('code $code, attempt $attempt waits $ms ms: $guarantee', ({ code, attempt, ms }) => {
  expect([backoffMs(code, attempt, () => 0), backoffMs(code, attempt, () => 1)]).toEqual(ms);
});

test('the first pause after any code is 2 s at most, and none is longer than a minute', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 0, max: 20 }),
      fc.integer({ min: 1, max: 1_000 }),
      fc.double({ min: 0, max: 1, noNaN: true }),
      (code, attempt, random) => {
        expect(backoffMs(code, 1, () => random)).toBeLessThanOrEqual(2_000);
        expect(backoffMs(code, attempt, () => random)).toBeGreaterThanOrEqual(100);
        expect(backoffMs(code, attempt, () => random)).toBeLessThanOrEqual(60_000);
      },
    ),
  );
});

test('pauses grow only while the next probe is refused too', async () => {
  const { clock, live, ofType, settle } = await refused(STATUS.PERMISSION_DENIED);
  clock.advance(ofType('backing_off').at(-1)?.delayMs ?? 0);
  live()[0]?.end(STATUS.PERMISSION_DENIED, 'refused');
  clock.advance(ofType('backing_off').at(-1)?.delayMs ?? 0);
  live()[0]?.ask();
  await settle();
  for (const call of live()) call.end(STATUS.PERMISSION_DENIED, 'refused');
  expect(ofType('backing_off').map(({ attempt }) => attempt)).toEqual([1, 2, 1]);
});

test('a router that refuses slowly, after a probe counted as accepted, is left alone longer each time', async () => {
  const { clock, live, ofType, settle } = await refused(STATUS.PERMISSION_DENIED);
  for (let round = 0; round < 3; round += 1) {
    clock.advance(ofType('backing_off').at(-1)?.delayMs ?? 0);
    clock.advance(1_000);
    await settle();
    for (const call of live()) call.end(STATUS.PERMISSION_DENIED, 'refused');
  }
  expect(ofType('backing_off').map(({ attempt }) => attempt)).toEqual([1, 2, 3, 4]);
});

test('a pool with streams goes on opening others while some are refused', async () => {
  const bench = poolBench();
  await bench.open();
  for (let refusals = 0; refusals < 20; refusals += 1) {
    bench.live().at(-1)?.end(STATUS.PERMISSION_DENIED, 'refused');
    bench.clock.advance(200);
    await bench.settle();
    expect(bench.live()).toHaveLength(8);
  }
  expect(bench.ofType('backing_off')).toEqual([]);
  expect(bench.ofType('stream_ended').every(({ failed }) => failed)).toBe(true);
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
