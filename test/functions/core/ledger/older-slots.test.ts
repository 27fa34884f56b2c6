/** Older versions kept a second set of sums on counters and records. While a deployment is under way, both versions write one table. */
import { expect, test } from 'vitest';
import { createLedger } from '../../../../functions/core/ledger/create-ledger.ts';
import { DynamoStore } from '../../../../functions/core/ledger/dynamo-store.ts';
import { MemoryTable } from '../../../../functions/core/store/memory-table.ts';
import { type ItemTable, type ItemWrite, keyOf } from '../../../../functions/core/store/operation.ts';
import { anAsk, claim, counter } from '../../../support/ledger/asks.ts';
import { manualClock } from '../../../support/ledger/test-clock.ts';

/** A write as an older version made it. */
const withSlots = (write: ItemWrite): ItemWrite => {
  if (write.kind === 'put') return { ...write, item: { ...write.item, ep: { N: '1994736' } } };
  if (write.key.sk !== 'counter') return write;
  return { ...write, add: { ...write.add, n0: 1, w0: 11, wb: 3 } };
};

test('jobs that an older version and this one hold and settle in turn are counted once each, and nothing drifts', async () => {
  const clock = manualClock();
  const table = new MemoryTable({ nowMs: clock.nowMs });
  const older: ItemTable = {
    tableName: table.tableName,
    send: (name, operation) =>
      table.send(
        name,
        'writes' in operation ? { ...operation, writes: operation.writes.map(withSlots) } : operation,
      ),
  };
  const ledgerOn = (of: ItemTable) =>
    createLedger({
      store: new DynamoStore({ table: of, instance: 'gitlab.example.com', clock, random: () => 0 }),
      ...{ clock, random: () => 0 },
    });
  const [before, now] = [ledgerOn(older), ledgerOn(table)];
  const endedAtMs = clock.nowMs() + 60_000;
  for (let jobId = 1; jobId <= 8; jobId += 1) {
    const [holds, settles] = [jobId % 2 === 0 ? before : now, jobId % 4 < 2 ? before : now];
    await holds.hold([anAsk(jobId, [claim('group/1', 100, 100_000)])], Number.POSITIVE_INFINITY);
    await settles.settle([{ jobId, durationSeconds: 60, endedAtMs }]);
  }
  const kept = table.items().filter((item) => keyOf(item).sk === 'counter');
  expect(kept).toMatchObject([{ n0: { N: expect.any(String) }, w0: { N: expect.any(String) } }]);
  const [one] = await now.readCounters([counter('group/1')]);
  const charged = (await now.readRecords([1, 2, 3, 4, 5, 6, 7, 8])).map(
    (record) => record?.claims[0]?.counted ?? 0,
  );
  expect(charged.every((amount) => amount > 0)).toBe(true);
  expect(one?.committed).toBe(charged.reduce((sum, amount) => sum + amount, 0));
  for (const ledger of [before, now])
    expect(await ledger.rebuild({ repair: false })).toMatchObject({ records: 8, drift: [], passedOver: 0 });
  // A repair leaves the old attributes alone.
  expect(await before.rebuild({ repair: true })).toMatchObject({ drift: [], repaired: 0 });
});
