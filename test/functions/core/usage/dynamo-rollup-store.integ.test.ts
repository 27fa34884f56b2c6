import { expect, test } from 'vitest';
import { systemClock } from '../../../../functions/core/environment/environment.ts';
import { dynamoEstimateSource } from '../../../../functions/core/estimates/estimate-source.ts';
import { createLedger } from '../../../../functions/core/ledger/create-ledger.ts';
import { DynamoStore } from '../../../../functions/core/ledger/dynamo-store.ts';
import { dynamoTable } from '../../../../functions/core/store/sdk-table.ts';
import { rebuildUsage } from '../../../../functions/core/usage/count-records.ts';
import { DynamoRollupStore } from '../../../../functions/core/usage/rollup-store.ts';
import { coverageOfDays } from '../../../../functions/core/usage/sums.ts';
import { runnerNames, usageOf } from '../../../../functions/core/usage/usage.ts';
import { historyKey } from '../../../../policies/run-history.ts';
import { anAsk, claim, someFacts } from '../../../support/ledger/asks.ts';
import { localTable } from '../../../support/ledger/local-table.ts';
import { aRecord, Feed, rollupBench, settled } from '../../../support/ledger/rollup-bench.ts';

const TABLE = 'rollup';
const DAY = '2026-11-21';

const local = localTable(TABLE);

const tableOf = (instance: string) => ({
  table: dynamoTable(local.client, TABLE),
  instance,
  clock: systemClock,
  random: Math.random,
});

test('images delivered twice, by two readers at once, are counted once, and their runs can be read by admission', async () => {
  const table = tableOf('gitlab.example.com');
  const store = new DynamoRollupStore(table);
  const feed = new Feed();
  const facts = { ...aRecord().facts, runnerClass: 'a#b|c' };
  for (let jobId = 1; jobId <= 120; jobId += 1) {
    const record = aRecord({ jobId, facts });
    feed.push(record);
    feed.push(settled(record, 60), record);
  }
  const readers = [1, 2].map(() => rollupBench({ store, clock: systemClock, random: Math.random }));
  for (;;) {
    const answers = await Promise.all(readers.map(({ deliver }) => deliver(feed.records)));
    if (answers.every(({ batchItemFailures }) => batchItemFailures.length === 0)) break;
  }
  const subjects = ['instance', 'group/104', 'project/7', 'runner-class/a#b|c'];
  for (const tally of await store.readUsage(subjects.map((subject) => ({ subject, day: DAY })))) {
    expect(usageOf(tally)).toMatchObject({ jobs: 120, admitted: 120, heldMicros: 0, settledMicros: 7_200 });
  }
  const [top] = await store.readTop([{ subject: 'group/100', day: DAY }]);
  expect(top?.projects).toEqual([{ projectId: 7, micros: 7_200 }]);
  const found = await dynamoEstimateSource(table).read([7, 8], { timeoutMs: 300_000 });
  expect([...found.keys()]).toEqual([7]);
  expect(found.get(7)?.get(historyKey('unit', 'a#b|c'))?.lastSeconds).toHaveLength(20);
});

test('the runners of a day, named, unnamed and those beyond the bound, are read as they were counted', async () => {
  const store = new DynamoRollupStore(tableOf('runners.example.com'));
  const feed = new Feed();
  for (let jobId = 1; jobId <= 104; jobId += 1) {
    const runner = jobId === 1 ? {} : { asked: { runnerId: 1_000 + jobId } };
    const record = settled(aRecord({ jobId, facts: { ...aRecord().facts, ...runner } }), 60);
    feed.push(jobId % 2 === 0 ? { ...record, unchecked: 'bypass' } : record);
  }
  const { deliver } = rollupBench({ store, clock: systemClock, nameOf: runnerNames() });
  expect((await deliver(feed.records)).batchItemFailures).toEqual([]);
  expect((await deliver(feed.records)).batchItemFailures).toEqual([]);
  const [tally = new Map()] = await store.readUsage([{ subject: 'group/100', day: DAY }]);
  const { ran, unasked, runners } = coverageOfDays([{ day: DAY, tally }]);
  expect([ran, unasked, runners.size]).toEqual([104, 52, 102]);
  expect(runners.get(1_002)).toEqual({ ran: 1, unasked: 1, lastUnaskedDay: DAY });
  expect(runners.get('unknown')).toEqual({ ran: 1, unasked: 0 });
  expect(runners.get('other')).toMatchObject({ ran: 3 });
});

test('a contribution that is no longer as it was read is not replaced, and nothing of its transaction is written', async () => {
  const store = new DynamoRollupStore(tableOf('races.example.com'));
  const key = { subject: 'instance', day: DAY };
  const after = {
    jobId: 1,
    rev: 2,
    generation: 1,
    settled: false,
    day: DAY,
    subjects: ['instance'],
    tally: new Map([['jobs', 1]]),
  };
  const usage = [{ key, delta: new Map([['jobs', 1]]) }];
  expect(await store.commit({ contributions: [{ after }], usage })).toBe('committed');
  expect(await store.commit({ contributions: [{ after }], usage })).toBe('contended');
  expect(await store.commit({ contributions: [{ after, replacesRev: 1 }], usage })).toBe('contended');
  expect(await store.readUsage([key])).toEqual([new Map([['jobs', 1]])]);
  expect(await store.readContributions([1, 2])).toEqual([after, undefined]);
  const undo = [{ key, delta: new Map([['jobs', -1]]) }];
  const next = { ...after, rev: 3 };
  expect(await store.commit({ contributions: [{ after: next, replacesRev: 2 }], usage: undo })).toBe(
    'committed',
  );
  expect(await store.readUsage([key])).toEqual([new Map()]);
});

test('the ledger beside the rollup finds no drift, and a rebuild counts what the stream never brought', async () => {
  const table = tableOf('both.example.com');
  const ledgerStore = new DynamoStore(table);
  const ledger = createLedger({ store: ledgerStore });
  const facts = someFacts({ jobName: 'unit', projectId: 7, groupId: 104, rootId: 100, costMicros: 10 });
  const asks = [1, 2, 3].map((jobId) => anAsk(jobId, [claim('group/100', 10, 100)], { facts }));
  await ledger.hold(asks, systemClock.monotonicMs() + 30_000);
  const { deps } = rollupBench({ store: new DynamoRollupStore(table) });
  expect(await rebuildUsage(ledgerStore.scan(), deps)).toEqual({
    records: 3,
    changed: 3,
    failed: 0,
    passedOver: 0,
  });
  expect(await rebuildUsage(ledgerStore.scan(), deps)).toEqual({
    records: 3,
    changed: 0,
    failed: 0,
    passedOver: 0,
  });
  const report = await ledger.rebuild({ repair: false });
  expect(report).toMatchObject({ records: 3, counters: 1, drift: [] });
});
