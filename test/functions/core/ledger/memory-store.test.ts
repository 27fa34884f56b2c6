import { expect, test } from 'vitest';
import { createLedger } from '../../../../functions/core/ledger/create-ledger.ts';
import { anAsk, claim } from '../../../support/ledger/asks.ts';
import { MemoryStore } from '../../../support/ledger/memory-store.ts';
import { manualClock } from '../../../support/ledger/test-clock.ts';
import { ledgerContract } from './contract.ts';

ledgerContract((instance, clock) => new MemoryStore({ instance, clock }));

test('the ledger reads the records of many jobs in several calls, each with a timeout of its own', async () => {
  const clock = manualClock();
  let calls = 0;
  const fault = (operation: string): undefined => {
    if (operation === 'readRecords') calls += 1;
  };
  const ledger = createLedger({
    store: new MemoryStore({ instance: 'gitlab.example.com', clock, fault }),
    clock,
  });
  await ledger.hold([anAsk(1_900, [claim('group/1', 10, 100)])], clock.monotonicMs() + 2_000);
  calls = 0;
  const records = await ledger.readRecords(Array.from({ length: 2_000 }, (_, index) => index));
  expect(calls).toBe(4);
  expect(records.flatMap((record, index) => (record ? [index] : []))).toEqual([1_900]);
  expect(records).toHaveLength(2_000);
});
