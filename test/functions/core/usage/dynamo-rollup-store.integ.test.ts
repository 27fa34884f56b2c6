import { expect, test } from 'vitest';
import { systemClock } from '../../../../functions/core/environment/environment.ts';
import { dynamoEstimateSource } from '../../../../functions/core/estimates/estimates.ts';
import { dynamoTable } from '../../../../functions/core/store/sdk-table.ts';
import { DynamoRollupStore } from '../../../../functions/core/usage/rollup-store.ts';
import { usageOf } from '../../../../functions/core/usage/usage.ts';
import { historyKey } from '../../../../policies/run-history.ts';
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
