import { expect, test } from 'vitest';
import { VirtualTime } from '../../../../scripts/local/clock/virtual-time.ts';
import { seededRandom } from '../../../../scripts/local/seeded-random.ts';
import { breaksBy, capacityChart, capacityPage } from '../../../../scripts/proof/bench/capacity-page.ts';
import { type LoadOutcome, measureLoad, openLoop } from '../../../../scripts/proof/bench/open-loop.ts';

const FOR_MS = 1_000;

/** Answers one question after the other, 5 ms each, but stands still for a while. */
async function latenciesOfAStall(stallMs: number): Promise<readonly number[]> {
  const clock = new VirtualTime();
  let free = Promise.resolve();
  let isFirst = true;
  const ask = (): Promise<void> => {
    const tookMs = isFirst ? stallMs : 5;
    isFirst = false;
    free = free.then(() => clock.sleep(tookMs));
    return free;
  };
  const options = { clock, perSecond: 100, forMs: FOR_MS, random: seededRandom(1) };
  return clock.run(openLoop(ask, options));
}

test('a stall is in the latency of all who came meanwhile, not of one', async () => {
  const latencies = await latenciesOfAStall(500);
  // Who asks only after an answer would have counted one.
  expect(latencies.filter((ms) => ms > 100).length).toBeGreaterThan(40);
  expect(latencies.length).toBe((await latenciesOfAStall(5)).length);
});

test('as many questions come as the schedule says, at gaps that differ', async () => {
  const { length } = await latenciesOfAStall(1);
  expect(length).toBeGreaterThan(70);
  expect(length).toBeLessThan(130);
});

const POINT = { roots: 1, relays: 1, isShared: false, perSecond: 100 } as const;

test('one root at a low rate: all decided, and ends settled beside', async () => {
  const outcome = await measureLoad(POINT);
  expect(outcome.undecidedShare).toBe(0);
  expect(outcome.p99Ms).toBeLessThan(100);
  expect(outcome.settledShare).toBeGreaterThan(0.5);
  expect(outcome.settledShare).toBeLessThanOrEqual(1);
});

test('the page names where a curve holds and what breaks it, the chart crosses that point out', () => {
  const good: LoadOutcome = {
    ...POINT,
    roots: 50,
    isShared: true,
    asked: 300,
    undecidedShare: 0,
    p50Ms: 9,
    p99Ms: 30,
    unitsPerJob: 10,
    conflictsPerJob: 0.1,
    throttlesPerJob: 0,
    settledShare: 0.97,
  };
  const bad = { ...good, perSecond: 1_000, undecidedShare: 0.4, conflictsPerJob: 7, p99Ms: 1_500 };
  const page = capacityPage([good, bad], { usdPerMillionUnits: 0.5, chart: 'capacity.svg' });
  expect(page).toContain(
    '| 50 roots, 1 relay, own and shared limits | 100 | conflicts on the shared counter | 1500 | 10.0 | $5.00 |',
  );
  expect(breaksBy([good])).toBe('holds');
  expect(breaksBy([good, { ...bad, throttlesPerJob: 8 }])).toBe('write units of one item');
  const chart = capacityChart([good, bad]);
  expect(chart.match(/<circle/g)).toHaveLength(1);
  expect(chart.match(/l8 8m0 -8l-8 8/g)).toHaveLength(1);
});
