/** Who is let in again, and when: a new token, and what counts as a stream at the router meanwhile. */
import { expect, test } from 'vitest';
import { STATUS } from '../../../relay/router/router.ts';
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
    clock.advance(5_000);
    expect(live()).toEqual([]);
    token.replaced = true;
    clock.advance(1_000);
    expect(live()).toHaveLength(1);
    live()[0]?.end(code, 'refused as well');
    expect(ofType('backing_off').map(({ attempt }) => attempt)).toEqual([1, 1]);
  },
);

test('nobody looks at the token while nothing is refused', async () => {
  const { clock, token } = await refused(STATUS.UNAVAILABLE);
  clock.advance(60_000);
  expect(token.looks).toBe(0);
});

test('the looking ends with the pause', async () => {
  const { clock, token } = await refused(STATUS.UNAUTHENTICATED);
  clock.advance(45_000);
  const { looks } = token;
  clock.advance(60_000);
  expect(looks).toBeGreaterThan(40);
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
