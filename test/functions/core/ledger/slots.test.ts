/** What a counter gained in a slot is what the records of the same transactions changed, whatever becomes of a job. */
import { expect, test } from 'vitest';
import { createLedger } from '../../../../functions/core/ledger/create-ledger.ts';
import { MemoryStore } from '../../../../functions/core/ledger/memory-store.ts';
import { weightChanges } from '../../../../functions/core/ledger/slots.ts';
import { countingStore } from '../../../../scripts/proof/bench/counting-store.ts';
import { anAsk, claim, counter } from '../../../support/ledger/asks.ts';
import { secondSumsAgree } from '../../../support/ledger/second-sums.ts';
import { manualClock } from '../../../support/ledger/test-clock.ts';

const INSTANCE = 'gitlab.example.com';

test('asked or not, in time or late, charged, corrected or given back: both sums agree at every write', async () => {
  const clock = manualClock();
  let looked = 0;
  const store = countingStore(new MemoryStore({ instance: INSTANCE, clock }), INSTANCE, (writes) => {
    looked += 1;
    secondSumsAgree(writes);
  });
  const ledger = createLedger({ store, clock, random: () => 0.5 });
  const ask = (jobId: number) => anAsk(jobId, [claim('group/1', 10, 45), claim('group/2', 1, 100)]);
  const endOf = (jobId: number) => ({ ...ask(jobId), durationSeconds: 60, endedAtMs: clock.nowMs() });
  const deadlineMs = clock.monotonicMs() + 60_000;
  const told = { cause: 'deadline', answeredAtMs: clock.nowMs() } as const;
  await ledger.hold([1, 2, 3, 4, 5].map(ask), deadlineMs);
  await ledger.recordUnmetered(
    [6, 7].map((jobId) => ({ ...ask(jobId), ...told, answered: 'admitted' as const })),
    deadlineMs,
  );
  await ledger.recordBypass([endOf(8)]);
  await ledger.expire([{ jobId: 1, cause: '404', charge: 'hold' }]);
  await ledger.release([{ jobId: 2, cause: 'canceled' }]);
  await ledger.settle([1, 3, 5, 6].map(endOf));
  await ledger.hold([1, 2].map(ask), deadlineMs);
  await ledger.settle([2, 7].map(endOf));
  expect(looked).toBeGreaterThan(7);
  expect(await ledger.readCounters([counter('group/1')])).toMatchObject([
    { unchecked: { bypass: expect.any(Number), unmetered: expect.any(Number) } },
  ]);
});

test('what is not checked weighs by its cause, and what is checked has none', async () => {
  const clock = manualClock();
  const ledger = createLedger({ store: new MemoryStore({ instance: INSTANCE, clock }), clock });
  await ledger.hold([anAsk(1, [claim('group/1', 10, 45)])], clock.monotonicMs() + 60_000);
  const record = await ledger.readRecord(1);
  if (record === undefined) throw new Error('the job has no record');
  const weightOf = (checked: boolean, unchecked?: 'bypass' | 'unmetered'): number | undefined => {
    const claims = record.claims.map((each) => ({ ...each, checked }));
    const changed = weightChanges(undefined, { ...record, claims, ...(unchecked && { unchecked }) });
    return changed.get('group/1|money-month|2026-11');
  };
  const plain = weightOf(true);
  expect(weightOf(true, 'bypass')).toBe(plain);
  expect(weightOf(false)).toBe(plain);
  expect(new Set([plain, weightOf(false, 'bypass'), weightOf(false, 'unmetered')]).size).toBe(3);
});
