import { expect, test } from 'vitest';
import { doubling, type Retries, retried } from '../../../../functions/core/store/table-failure.ts';

function bench(over: Partial<Retries> = {}) {
  const pauses: number[] = [];
  let tries = 0;
  const retries: Retries = {
    clock: {
      async sleep(delayMs) {
        pauses.push(delayMs);
      },
    },
    random: () => 0.5,
    triesMax: 4,
    pauseMsMax: doubling(100, 500),
    ...over,
  };
  const succeedsAt = (good: number) =>
    retried(
      async () => {
        tries += 1;
        return tries;
      },
      (answer) => answer < good,
      retries,
    );
  return { pauses, succeedsAt };
}

test('what succeeds at once is asked for once and waits for nothing', async () => {
  const { pauses, succeedsAt } = bench();
  expect(await succeedsAt(1)).toBe(1);
  expect(pauses).toEqual([]);
});

test('every try waits a random part of a pause that doubles up to its bound', async () => {
  const { pauses, succeedsAt } = bench({ triesMax: 9 });
  expect(await succeedsAt(5)).toBe(5);
  expect(pauses).toEqual([100, 200, 250, 250]);
});

test('after the last try the last answer is the answer, without another pause', async () => {
  const { pauses, succeedsAt } = bench();
  expect(await succeedsAt(99)).toBe(4);
  expect(pauses).toHaveLength(3);
});

test('without time for a pause nothing is waited for', async () => {
  const { pauses, succeedsAt } = bench({ isTimeFor: (pauseMs) => pauseMs <= 100 });
  expect(await succeedsAt(99)).toBe(2);
  expect(pauses).toEqual([100]);
});
