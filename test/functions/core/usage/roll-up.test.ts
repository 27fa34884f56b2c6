import { expect, test } from 'vitest';
import { silentLog } from '../../../../functions/core/environment/environment.ts';
import { encodeCounter } from '../../../../functions/core/ledger/items.ts';
import type { Counter, RecordClaim } from '../../../../functions/core/ledger/ledger.ts';
import { encodeRecord } from '../../../../functions/core/ledger/record.ts';
import type { Metrics } from '../../../../functions/core/metrics.ts';
import { applyRecords, countRecords } from '../../../../functions/core/usage/count-records.ts';
import { createAlertSender } from '../../../../functions/core/usage/roll-up.ts';
import type { RollupStore } from '../../../../functions/core/usage/rollup-store.ts';
import { usageOf } from '../../../../functions/core/usage/usage.ts';
import { counter } from '../../../support/ledger/asks.ts';
import { aRecord, Feed, keys, rollupBench, settled } from '../../../support/ledger/rollup-bench.ts';
import { NOVEMBER_21_MS } from '../../../support/ledger/test-clock.ts';

const DAY = '2026-11-21';

test('a job for which room is kept, and nothing more, is no job of any usage before somebody asks about it', async () => {
  const { store, deliver } = rollupBench();
  const feed = new Feed();
  const kept = aRecord({ state: 'RESERVED', generation: 0, rev: 1, answered: 'unknown' });
  feed.push(kept);
  feed.push({ ...kept, state: 'RELEASED', rev: 2 });
  await deliver(feed.records);
  expect(store.usage().size).toBe(0);
  feed.push(aRecord({ generation: 1, rev: 3 }));
  await deliver(feed.records);
  const [usage] = await store.readUsage([{ subject: 'group/101', day: DAY }]);
  expect(usageOf(usage ?? new Map())).toMatchObject({ jobs: 1, admitted: 1 });
});

test('whoever read a stale contribution, list or history writes nothing by it, and reads again consistently', async () => {
  const bench = rollupBench();
  const feed = new Feed();
  feed.push(aRecord());
  await bench.deliver(feed.records);
  const asked: (string | undefined)[] = [];
  // As if nothing had been written yet.
  const stale: RollupStore = {
    commit: (writes) => bench.store.commit(writes),
    readUsage: (keys) => bench.store.readUsage(keys),
    readEstimates: (projectIds) => bench.store.readEstimates(projectIds),
    writeEstimates: (...estimates) => bench.store.writeEstimates(...estimates),
    writeTop: (top) => bench.store.writeTop(top),
    readRejections: (subjects) => bench.store.readRejections(subjects),
    writeRejections: (latest) => bench.store.writeRejections(latest),
    readContributions: async (jobIds, consistency) => {
      asked.push(consistency);
      return consistency === 'eventual' ? jobIds.map(() => undefined) : bench.store.readContributions(jobIds);
    },
    readTop: async (keys, consistency) =>
      consistency === 'eventual'
        ? keys.map((key) => ({ key, projects: [], rev: 0 }))
        : bench.store.readTop(keys),
  };
  const report = await countRecords([settled(aRecord(), 30)], { ...bench.deps, store: stale });
  expect(report.changes).toHaveLength(1);
  expect(asked).toEqual(['eventual', 'consistent']);
  const key = { subject: 'group/101', day: DAY };
  const [usage] = await bench.store.readUsage([key]);
  expect(usageOf(usage ?? new Map())).toMatchObject({ jobs: 1, heldMicros: 0, seconds: 30 });
  const [top] = await bench.store.readTop([key]);
  expect(top).toMatchObject({ projects: [{ projectId: 7 }], rev: 2 });
});

test('only what could not be counted is delivered again', async () => {
  let busy = true;
  const { deliver, store } = rollupBench({ fault: () => (busy ? 'contended' : undefined) });
  const feed = new Feed();
  feed.push(aRecord());
  expect(await deliver(feed.records)).toEqual({ batchItemFailures: [{ itemIdentifier: '1' }] });
  expect(store.usage().size).toBe(0);
  busy = false;
  expect(await deliver(feed.records)).toEqual({ batchItemFailures: [] });
  expect(store.usage().size).toBe(6);
});

const aCounter = (committed: number): Counter => ({
  key: counter('group/100'),
  committed,
  fitted: committed,
  settled: 0,
  unchecked: { exempt: 0, unmetered: 0, bypass: 0 },
  rev: committed,
});

const counterChange = (sequence: string, after: number) => ({
  eventName: 'MODIFY',
  dynamodb: { SequenceNumber: sequence, NewImage: encodeCounter(aCounter(after), keys) },
});

test('a topic that refuses holds up no usage, and what it refused is told once it takes messages', async () => {
  const told: number[] = [];
  let refuses = true;
  const sendAlerts = createAlertSender(async (counters) => {
    if (refuses) throw new Error('the topic is closed');
    told.push(...counters.map(({ committed }) => committed));
  }, silentLog);
  const measured: number[] = [];
  const metrics: Metrics = { add: (_, value) => void measured.push(value), flush: () => {} };
  const { deliver, store } = rollupBench({ sendAlerts, metrics });
  const feed = new Feed();
  feed.push(aRecord());
  const answer = await deliver([...feed.records, counterChange('2', 2), counterChange('3', 3)]);
  expect(answer).toEqual({ batchItemFailures: [] });
  expect(store.usage().size).toBe(6);
  expect(measured).toEqual([1]);
  refuses = false;
  expect(await deliver([])).toEqual({ batchItemFailures: [] });
  expect(told).toEqual([3]);
  expect(measured).toEqual([1]);
});

test('an image that cannot be read fails alone for ten minutes and is then passed over and counted', async () => {
  const measured: number[] = [];
  const metrics: Metrics = { add: (_, value) => void measured.push(value), flush: () => {} };
  let nowMs = NOVEMBER_21_MS;
  const clock = { nowMs: () => nowMs, sleep: async () => {} };
  const { deliver, store } = rollupBench({ metrics, clock });
  const feed = new Feed();
  feed.push(aRecord());
  const { pk, sk } = keys.record(2);
  const batch = [
    {
      eventName: 'MODIFY',
      dynamodb: {
        SequenceNumber: '7',
        ApproximateCreationDateTime: NOVEMBER_21_MS / 1000,
        NewImage: { pk: { S: pk }, sk: { S: sk } },
      },
    },
    {
      eventName: 'INSERT',
      dynamodb: { SequenceNumber: '8', NewImage: { pk: { S: pk }, sk: { S: 'rollup' } } },
    },
    { eventName: 'REMOVE', dynamodb: { SequenceNumber: '9', OldImage: { pk: { S: pk }, sk: { S: sk } } } },
    ...feed.records,
  ];
  expect(await deliver(batch)).toEqual({ batchItemFailures: [{ itemIdentifier: '7' }] });
  expect(store.usage().size).toBe(6);
  expect(measured).toEqual([]);
  nowMs += 10 * 60_000;
  expect(await deliver(batch)).toEqual({ batchItemFailures: [] });
  expect(measured).toEqual([1]);
});

test.each(['2026-11-21', '2026-11', '2026'])(
  'a contribution outlives its record by more than garbage collection is late, also of a job that counts in %s',
  async (period) => {
    const { store, deps } = rollupBench();
    let keptUntilSeconds: number | undefined;
    store.commit = async ({ contributions }) => {
      keptUntilSeconds = contributions[0]?.expiresAtSeconds;
      return 'committed';
    };
    const key = counter('group/101', 'money', period);
    const charged: RecordClaim = {
      counter: key,
      unit: 'micros',
      held: 600,
      counted: 600,
      corrected: 0,
      fitted: true,
      checked: true,
    };
    const record = settled(aRecord({ claims: [charged] }), 30);
    await applyRecords([record], deps);
    const recordUntilSeconds = Number(encodeRecord(record, keys).ttl?.N);
    // DynamoDB takes what has expired within a few days; until then the record could be delivered and counted again.
    expect(keptUntilSeconds).toBeGreaterThan(recordUntilSeconds + 7 * 86_400);
  },
);
