import { expect, test } from 'vitest';
import { mendedMs } from '../../../functions/core/ledger/checkpoints.ts';
import { createLedger } from '../../../functions/core/ledger/create-ledger.ts';
import { usageOf } from '../../../functions/core/usage/usage.ts';
import { mendUsage, recordVisit } from '../../../functions/drift/recount.ts';
import { anAsk, claim, someFacts } from '../../support/ledger/asks.ts';
import { MemoryStore } from '../../support/ledger/memory-store.ts';
import { Feed, INSTANCE, rollupBench } from '../../support/ledger/rollup-bench.ts';
import { manualClock } from '../../support/ledger/test-clock.ts';

const DAY = '2026-11-21';

test('usage that the stream lost is counted by the recount, once, and what it delivered stays as it is', async () => {
  const clock = manualClock();
  const feed = new Feed();
  const table = new MemoryStore({ instance: INSTANCE, clock, onCommit: feed.onCommit });
  const ledger = createLedger({ store: table, clock });
  const { store, deps, deliver } = rollupBench();
  const facts = someFacts({ groupId: 104, rootId: 100, projectId: 7 });
  const asks = [1, 2].map((jobId) => anAsk(jobId, [claim('group/101', 600, 10_000)], { facts }));
  await ledger.hold(asks, clock.monotonicMs() + 60_000);
  await ledger.settle([1, 2].map((jobId) => ({ jobId, durationSeconds: 60, endedAtMs: clock.nowMs() })));
  // Nothing arrives of job 2.
  await deliver(feed.records.filter(({ dynamodb }) => !JSON.stringify(dynamodb).includes('job#2"')));
  const seconds = async () => {
    const [tally] = await store.readUsage([{ subject: 'group/101', day: DAY }]);
    return usageOf(tally ?? new Map()).seconds;
  };
  expect(await seconds()).toBe(60);

  const round = async () => {
    let mended: Awaited<ReturnType<typeof mendUsage>> | undefined;
    const visit = recordVisit(
      { sinceMs: clock.nowMs() - mendedMs(2), nowMs: clock.nowMs() },
      {
        mend: async (records) => {
          mended = await mendUsage(records, deps);
          return mended;
        },
        replaceUserIds: async () => {},
        keepCounters: async () => {},
      },
    );
    for await (const item of table.scan()) if (item.kind === 'record') visit.see(item.record);
    await visit.work();
    return mended;
  };
  for (const mended of [1, 0]) {
    expect(await round()).toEqual({ jobs: 2, mended, failed: 0 });
    expect(await seconds()).toBe(120);
  }
  clock.advance(10 * 86_400_000);
  expect(await round()).toBeUndefined();
});
