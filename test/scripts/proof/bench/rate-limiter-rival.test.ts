import { expect, test } from 'vitest';
import { VirtualTime } from '../../../../scripts/local/clock/virtual-time.ts';
import { seededRandom } from '../../../../scripts/local/seeded-random.ts';
import { benchRequest } from '../../../../scripts/proof/bench/bench-rules.ts';
import { rateLimiterRival } from '../../../../scripts/proof/bench/rate-limiter-rival.ts';

function aRival() {
  const clock = new VirtualTime();
  return { clock, ...rateLimiterRival(clock, seededRandom(1)) };
}

test('a job takes a write of each limit, and another one where the entry is there already', async () => {
  const { clock, ask, counts } = aRival();
  expect(await clock.run(ask(benchRequest(1, 0)))).toBe(true);
  expect(counts).toEqual({ units: 3, throttles: 0 });
  expect(await clock.run(ask(benchRequest(2, 0)))).toBe(true);
  expect(counts).toEqual({ units: 3 + 2 * 3, throttles: 0 });
});

test('an item takes a thousand writes a second, and the rest of the jobs are throttled', async () => {
  for (const { jobs, all } of [
    { jobs: 400, all: true },
    { jobs: 900, all: false },
  ]) {
    const { clock, ask, counts } = aRival();
    await clock.run(ask(benchRequest(1, 0)));
    const questions = Array.from({ length: jobs }, (_, index) => ask(benchRequest(2 + index, 0)));
    const answers = await clock.run(Promise.all(questions));
    expect([answers.every(Boolean), counts.throttles === 0]).toEqual([all, all]);
  }
});
