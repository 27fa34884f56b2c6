/** The snapshot of all counters: what the counters are, however the stream's batches come and whatever fails meanwhile. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createLedger } from '../../../../functions/core/ledger/create-ledger.ts';
import { DynamoStore } from '../../../../functions/core/ledger/dynamo-store.ts';
import type { Counter } from '../../../../functions/core/ledger/ledger.ts';
import { MemoryTable } from '../../../../functions/core/store/memory-table.ts';
import { keyOf } from '../../../../functions/core/store/operation.ts';
import { dynamoCounterSnapshots, isInSnapshot } from '../../../../functions/core/usage/counter-snapshot.ts';
import { counterName } from '../../../../policies/claim.ts';
import { anAsk, claim, counter } from '../../../support/ledger/asks.ts';
import { INSTANCE, rollupBench, type StreamRecord } from '../../../support/ledger/rollup-bench.ts';
import { manualClock } from '../../../support/ledger/test-clock.ts';
import { propertyRuns } from '../../../support/property-runs.ts';

const HOUR_MS = 3_600_000;
const SHARDS = 3;

/** A table with its stream, the rollup that reads it, and the runs that fold the log. */
function deployment() {
  const clock = manualClock();
  const shards: StreamRecord[][] = Array.from({ length: SHARDS }, () => []);
  let sequence = 0;
  const table = new MemoryTable({
    nowMs: clock.nowMs,
    onWritten: (changes) => {
      for (const { before, after } of changes) {
        if (after === undefined) continue;
        const { pk, sk } = keyOf(after);
        if (sk !== 'record' && sk !== 'counter') continue;
        sequence += 1;
        // A shard has all writes of an item, in their order.
        shards[[...pk].reduce((sum, each) => sum + each.charCodeAt(0), 0) % SHARDS]?.push({
          eventName: before === undefined ? 'INSERT' : 'MODIFY',
          dynamodb: {
            ...{ SequenceNumber: String(sequence).padStart(8, '0'), NewImage: after },
            ...(before && { OldImage: before }),
          },
        });
      }
    },
  });
  const deps = { table, instance: INSTANCE, clock, random: () => 0 };
  const store = new DynamoStore(deps);
  const ledger = createLedger({ store, clock, random: () => 0 });
  // Each program begins with nothing known, and an item holds little.
  const snapshots = () => dynamoCounterSnapshots({ ...deps, partBytes: 200 });
  const { deliver } = rollupBench({ snapshots: snapshots(), clock: { ...clock, sleep: async () => {} } });
  let jobs = 0;
  /** Jobs of a group, each on the group's counters and everybody's; every second one ends. */
  const run = async (group: number, count = 1): Promise<void> => {
    for (let each = 0; each < count; each += 1) {
      jobs += 1;
      const claims = [`group/${group}`, 'instance'].map((subject) => claim(subject, 100, 1_000_000));
      const now = counter('instance', 'jobs', 'now');
      const slots = claim('instance', 1, 100_000, { counter: now, unit: 'jobs' });
      await ledger.hold([anAsk(jobs, [...claims, slots])], Number.POSITIVE_INFINITY);
      if (jobs % 2 === 0)
        await ledger.settle([{ jobId: jobs, durationSeconds: 30 + (jobs % 90), endedAtMs: clock.nowMs() }]);
    }
  };
  /** A batch from the head of a shard, twice where its answer was lost. */
  const deliverSome = async (shard: number, count: number, again = false): Promise<void> => {
    const batch = (shards[shard % SHARDS] ?? []).slice(0, count);
    if (batch.length === 0) return;
    await deliver(batch);
    if (again) await deliver(batch.slice(0, Math.ceil(batch.length / 2)));
    shards[shard % SHARDS]?.splice(0, count);
  };
  const deliverAll = async (): Promise<void> => {
    for (let shard = 0; shard < SHARDS; shard += 1) await deliverSome(shard, Number.POSITIVE_INFINITY);
  };
  const counters = async (): Promise<readonly Counter[]> => {
    const all: Counter[] = [];
    for await (const item of store.scan()) if (item.kind === 'counter') all.push(item.counter);
    return all;
  };
  /** A round that meets the counters one after the other, some time apart. */
  const recount = async (stepMs = 1): Promise<void> => {
    const startedAtMs = clock.nowMs();
    for (const met of await counters()) {
      clock.advance(stepMs);
      await snapshots().add([met]);
    }
    await snapshots().recounted(startedAtMs);
  };
  /** A complete one. */
  const begun = async (): Promise<void> => {
    await snapshots().fold();
    await recount();
  };
  return { clock, table, ledger, snapshots, run, deliverSome, deliverAll, counters, recount, begun };
}

const shown = (counters: Iterable<Counter>) =>
  [...counters]
    .filter(({ key }) => isInSnapshot(key))
    .map(({ key, committed, settled, fitted, unchecked, rev }) =>
      JSON.stringify([counterName(key), committed, settled, fitted, unchecked, rev]),
    )
    .sort();

test('after a round of the recount it has every counter, and the changes of each batch without waiting for a fold', async () => {
  const { run, deliverAll, snapshots, counters, recount } = deployment();
  await run(1, 4);
  await deliverAll();
  expect(await snapshots().read()).toBeUndefined();
  await snapshots().fold();
  expect(await snapshots().read()).toMatchObject({ complete: false });
  await recount();
  for (const group of [1, 2, 3]) {
    await run(group, 3);
    await deliverAll();
    for (const fold of [false, true]) {
      if (fold) await snapshots().fold();
      const snapshot = await snapshots().read();
      expect(snapshot?.complete).toBe(true);
      expect(shown(snapshot?.counters.values() ?? [])).toEqual(shown(await counters()));
    }
  }
});

test('any jobs, in any batches, again, late and across shards, with folds that fail: a complete one is what the counters are', async () => {
  const step = fc.oneof(
    fc.record({ run: fc.integer({ min: 1, max: 3 }), jobs: fc.integer({ min: 1, max: 4 }) }),
    fc.record({
      shard: fc.integer({ min: 0, max: SHARDS - 1 }),
      batch: fc.integer({ min: 1, max: 8 }),
      again: fc.boolean(),
    }),
    fc.record({ passMinutes: fc.integer({ min: 1, max: 200 }) }),
    fc.constant({ fold: true }),
    fc.record({ recountStepMinutes: fc.integer({ min: 0, max: 120 }) }),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 25 }), async (steps) => {
      const { clock, run, deliverSome, deliverAll, snapshots, counters, recount } = deployment();
      for (const each of steps) {
        if ('run' in each) await run(each.run, each.jobs);
        else if ('shard' in each) await deliverSome(each.shard, each.batch, each.again);
        else if ('passMinutes' in each) clock.advance(each.passMinutes * 60_000);
        else if ('fold' in each) await snapshots().fold();
        else await recount(each.recountStepMinutes * 60_000);
      }
      await deliverAll();
      const read = await snapshots().read();
      if (read?.complete === true) expect(shown(read.counters.values())).toEqual(shown(await counters()));
    }),
    { numRuns: propertyRuns(60) },
  );
});

test('after more than a day without a fold it is not believed, and begins again', async () => {
  const { clock, run, deliverAll, begun, snapshots, recount } = deployment();
  await begun();
  await run(1, 2);
  await deliverAll();
  clock.advance(23 * HOUR_MS);
  expect(await snapshots().read()).toMatchObject({ complete: true });
  clock.advance(2 * HOUR_MS);
  expect(await snapshots().read()).toBeUndefined();
  await snapshots().fold();
  expect(await snapshots().read()).toMatchObject({ complete: false, counters: new Map() });
  await recount();
  expect(await snapshots().read()).toMatchObject({ complete: true });
});

test('counters of pipelines, windows and users are not in it: no user’s id stands in another key', async () => {
  const { ledger, deliverAll, begun, snapshots, table } = deployment();
  await begun();
  const keys = [
    counter('group/1', 'money-day', '2026-11-21'),
    counter('pipeline/5', 'money-pipeline', 'pipeline/5'),
    counter('user/987654', 'money-month', '2026-11'),
  ].filter((key) => !isInSnapshot(key));
  expect(keys.length).toBeGreaterThanOrEqual(2);
  const claims = keys.map((key) => claim(key.subject, 10, 1_000, { counter: key }));
  await ledger.hold([anAsk(1, claims)], Number.POSITIVE_INFINITY);
  await deliverAll();
  expect((await snapshots().read())?.counters.size).toBe(0);
  const logged = table.items().filter((item) => keyOf(item).pk.endsWith('@counters#log'));
  expect(logged).toEqual([]);
});

test('of a limit the last two periods are kept, of two copies the later one, with what was not checked', async () => {
  const of = (period: string, rev: number, bypass = 0): Counter => ({
    ...{ key: counter('group/1', 'money-month', period), rev, committed: rev, fitted: rev, settled: 0 },
    unchecked: { exempt: 0, unmetered: 0, bypass },
  });
  const { begun, snapshots } = deployment();
  await begun();
  await snapshots().append([of('2026-09', 1), of('2026-10', 5, 3), of('2026-11', 2)], '1');
  await snapshots().append([of('2026-10', 4), of('2026-11', 3)], '2');
  expect([...((await snapshots().read())?.counters.values() ?? [])]).toEqual([
    of('2026-10', 5, 3),
    of('2026-11', 3),
  ]);
});
