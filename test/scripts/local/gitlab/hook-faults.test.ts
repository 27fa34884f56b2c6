import { expect, test } from 'vitest';
import type { FaultOptions } from '../../../../scripts/local/gitlab/faults.ts';
import { hookBench, newJob, RUNNER, START_MS } from '../../../support/hook-bench.ts';

/** `count` jobs, each from start to end within its own minute. */
async function play(count: number, faults: FaultOptions, seed = 1) {
  const bench = hookBench({ faults, seed });
  for (let id = 1; id <= count; id += 1) {
    bench.local.create(newJob(id));
    bench.local.play(id, { runner: RUNNER, startsInMs: 1_000, runsMs: 30_000 });
    await pass(bench.clock, 60_000);
  }
  await pass(bench.clock, 600_000);
  await bench.local.hooksIdle();
  return bench;
}

const STEP_MS = 5_000;

/** Time in steps shorter than the timeout of a delivery, so that answers arrive in between. */
async function pass(clock: { advance(ms: number): void }, ms: number): Promise<void> {
  for (let passedMs = 0; passedMs < ms; passedMs += STEP_MS) {
    clock.advance(STEP_MS);
    await new Promise((resolve) => setImmediate(resolve));
  }
}

test('without faults every change arrives once, in order', async () => {
  const { delivered, local } = await play(20, {});
  expect(delivered.map(({ jobId, status }) => `${jobId} ${status}`)).toEqual(
    Array.from({ length: 20 }, (_, at) =>
      ['created', 'pending', 'running', 'success'].map((status) => `${at + 1} ${status}`),
    ).flat(),
  );
  expect(local.counters.hooks).toMatchObject({ events: 80, delivered: 80, lost: 0 });
});

test('the same seed does the same wrong, another seed another', async () => {
  const faults = { hooks: { lose: 0.1, repeat: 0.1, reorder: 0.1, delay: 0.1 } };
  const runs = await Promise.all([play(40, faults, 7), play(40, faults, 7), play(40, faults, 8)]);
  const [one, same, other] = runs.map(({ delivered }) =>
    delivered.map(({ webhookId, status }) => `${webhookId} ${status}`),
  );
  expect(same).toEqual(one);
  expect(other).not.toEqual(one);
});

test('what is lost never arrives, and the share is the one asked for', async () => {
  const { delivered, local } = await play(500, { hooks: { lose: 0.05 } });
  const { lost } = local.counters.hooks;
  expect(delivered).toHaveLength(2_000 - lost);
  expect(lost / 2_000).toBeGreaterThan(0.03);
  expect(lost / 2_000).toBeLessThan(0.07);
});

test('losing some deliveries does not change which others are repeated', async () => {
  const repeatedIds = async (faults: FaultOptions) => {
    const ids = (await play(100, faults)).delivered.map(({ webhookId }) => webhookId);
    return new Set(ids.filter((id, at) => ids.indexOf(id) !== at));
  };
  const alone = await repeatedIds({ hooks: { repeat: 0.2 } });
  const besides = await repeatedIds({ hooks: { repeat: 0.2, lose: 0.3 } });
  expect(besides.size).toBeGreaterThan(0);
  expect([...besides].filter((id) => !alone.has(id))).toEqual([]);
});

test('a repeat has the id and the body of the first', async () => {
  const { delivered } = await play(1, { hooks: { repeat: 1 } });
  expect(delivered).toHaveLength(8);
  const byId = Map.groupBy(delivered, ({ webhookId }) => webhookId);
  expect(byId.size).toBe(4);
  for (const [first, second] of byId.values()) expect(second).toEqual(first);
});

test('out of order, an end arrives before its start', async () => {
  const { delivered, local, clock } = hookBench();
  local.create(newJob(1));
  await local.hooksIdle();
  local.faults.hooks = { lose: 0, repeat: 0, reorder: 1, delay: 0 };
  local.start(1, RUNNER);
  clock.advance(30_000);
  local.end(1, { status: 'success' });
  await local.hooksIdle();
  expect(delivered.map(({ status }) => status)).toEqual(['created', 'pending', 'success', 'running']);
});

test('out of order with nothing after it, an end still arrives, late', async () => {
  const { delivered, local } = await play(1, { hooks: { reorder: 1 }, delayMsMax: 5_000 });
  expect(delivered.map(({ status }) => status).toSorted()).toEqual([
    'created',
    'pending',
    'running',
    'success',
  ]);
  expect(local.counters.hooks.reordered).toBeGreaterThan(0);
});

test('a late delivery says what was true when it was due', async () => {
  const { delivered, local, clock } = hookBench({ faults: { hooks: { delay: 1 }, delayMsMax: 5_000 } });
  local.create(newJob(1));
  local.play(1, { runner: RUNNER, runsMs: 100 });
  clock.advance(101);
  const early = delivered.length;
  clock.advance(10_000);
  await local.hooksIdle();
  expect(early).toBeLessThan(4);
  expect(delivered.map(({ status }) => status).toSorted()).toEqual([
    'created',
    'pending',
    'running',
    'success',
  ]);
});

test('in an outage webhooks are lost for good and the REST API answers 503, before and after not', async () => {
  const outage = { fromMs: START_MS + 60_000, toMs: START_MS + 120_000 };
  const { delivered, local, clock } = hookBench({ faults: { outages: [outage] } });
  const ask = async () => (await local.fetch('http://x/api/v4/runners/all', TOKEN)).status;
  const statuses: number[] = [];
  for (let id = 1; id <= 3; id += 1) {
    local.create(newJob(id));
    statuses.push(await ask());
    clock.advance(60_000);
  }
  await local.hooksIdle();
  expect(delivered.map(({ jobId }) => jobId)).toEqual([1, 1, 3, 3]);
  expect(statuses).toEqual([200, 503, 200]);
  expect(local.counters.hooks.lostInOutage).toBe(2);
});

const TOKEN = { headers: { 'private-token': 'glpat-local' } };

test('a failed delivery is not tried again', async () => {
  let calls = 0;
  const { local } = hookBench({
    receive: async () => {
      calls += 1;
      throw new Error('no');
    },
  });
  local.create(newJob(1));
  await local.hooksIdle();
  expect(calls).toBe(2);
  expect(local.counters.hooks).toMatchObject({ failed: 2, delivered: 0 });
});

test('a receiver that does not answer is given up after 10 s', async () => {
  const { local, clock } = hookBench({ receive: () => new Promise<void>(() => {}) });
  local.create(newJob(1));
  clock.advance(9_999);
  expect(local.counters.hooks.timedOut).toBe(0);
  clock.advance(1);
  await local.hooksIdle();
  expect(local.counters.hooks.timedOut).toBe(2);
});
