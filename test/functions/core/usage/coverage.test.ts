import { expect, test } from 'vitest';
import { sumCoverage } from '../../../../functions/core/usage/sums.ts';
import { someFacts } from '../../../support/ledger/asks.ts';
import { aRecord, Feed, rollupBench, settled } from '../../../support/ledger/rollup-bench.ts';

const DAY = '2026-11-21';
const facts = (runnerId?: number, groupId = 104) =>
  someFacts({ projectId: 7, groupId, rootId: 100, ...(runnerId && { asked: { runnerId } }) });
const ran = (jobId: number, runnerId?: number) => settled(aRecord({ jobId, facts: facts(runnerId) }), 30);
const passed = (jobId: number, runnerId?: number) => ({
  ...ran(jobId, runnerId),
  unchecked: 'bypass' as const,
});

async function coverageAfter(records: readonly ReturnType<typeof ran>[], subject = 'group/100') {
  const { store, deliver } = rollupBench();
  const feed = new Feed();
  for (const record of records) feed.push(record);
  await deliver(feed.records);
  const [tally = new Map()] = await store.readUsage([{ subject, day: DAY }]);
  return sumCoverage([{ day: DAY, tally }]);
}

test('a day names a hundred runners of a top-level group, and counts the jobs of others together', async () => {
  const records = Array.from({ length: 130 }, (_, index) => passed(index + 1, 1_000 + index));
  const coverage = await coverageAfter(records);
  expect(coverage).toMatchObject({ ran: 130, unasked: 130 });
  expect(coverage.runners.size).toBe(101);
  expect(coverage.runners.get('other')).toMatchObject({ ran: 30, unasked: 30 });
});
