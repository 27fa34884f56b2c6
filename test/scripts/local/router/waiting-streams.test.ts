import { expect, test } from 'vitest';
import { handClock } from '../../../../scripts/local/clock/hand-clock.ts';
import { WaitingStreams } from '../../../../scripts/local/router/waiting-streams.ts';

test.each([0, 1, 2, 3, 4, 5, 6, 7])('stream %i of eight is taken when the draw says so', async (place) => {
  const pool = new WaitingStreams<number>(handClock(), () => place / 8);
  for (let stream = 0; stream < 8; stream += 1) pool.add(stream);
  expect(await pool.take(1)).toBe(place);
  expect(pool.size).toBe(7);
});

test('every stream is given out once, whatever is drawn and removed in between', async () => {
  const pool = new WaitingStreams<number>(handClock(), () => 0.5);
  for (let stream = 0; stream < 9; stream += 1) pool.add(stream);
  for (const gone of [8, 0, 4, 4]) pool.remove(gone);
  const taken = [];
  while (pool.size > 0) taken.push(await pool.take(1));
  expect(taken.sort()).toEqual([1, 2, 3, 5, 6, 7]);
});

test('a job that waited in vain does not take the next stream', async () => {
  const clock = handClock();
  const pool = new WaitingStreams<number>(clock, Math.random);
  const late = pool.take(10);
  clock.advance(10);
  expect(await late).toBeUndefined();
  pool.add(1);
  expect(pool.size).toBe(1);
});
