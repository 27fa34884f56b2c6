import { expect, test } from 'vitest';
import { createLedger } from '../../../../functions/core/ledger/create-ledger.ts';
import { MemoryStore } from '../../../../functions/core/ledger/memory-store.ts';
import { bypassMove, ranRejected, wasRejected } from '../../../../functions/core/ledger/settle.ts';
import { anAsk, blocked, claim } from '../../../support/ledger/asks.ts';
import { manualClock } from '../../../support/ledger/test-clock.ts';

test('a job ran although it was rejected if it came past us and something is held against it', () => {
  const one = { unchecked: 'bypass', flagged: false, violations: [] } as const;
  expect(ranRejected(one)).toBe(false);
  expect(ranRejected({ ...one, flagged: true })).toBe(true);
  expect(ranRejected({ ...one, violations: [blocked] })).toBe(true);
  expect(ranRejected({ ...one, unchecked: 'unmetered', flagged: true, violations: [blocked] })).toBe(false);
  expect(ranRejected({ flagged: true, violations: [blocked] })).toBe(false);
  expect(wasRejected({ ...one, state: 'REJECTED' })).toBe(true);
  expect(wasRejected({ ...one, state: 'SETTLED' })).toBe(false);
  expect(wasRejected({ ...one, state: 'SETTLED', flagged: true })).toBe(true);
});

test('of a job that was never asked about, what only warns is no rejection', () => {
  const warns = { ...blocked, mode: 'warn' as const };
  const ask = anAsk(1, [claim('group/1', 10, 100)], { violations: [blocked, warns] });
  const { record } = bypassMove(undefined, { ...ask, durationSeconds: 60, endedAtMs: 5_000 }, 9_000);
  expect(record).toMatchObject({ violations: [blocked], shadow: [warns] });
});

test('of an answer of the fallback, what only warns is no rejection', async () => {
  const clock = manualClock();
  const ledger = createLedger({ store: new MemoryStore({ instance: 'gitlab.example.com', clock }), clock });
  const warns = { ...blocked, mode: 'warn' as const };
  const ask = anAsk(1, [claim('group/1', 10, 100)], { violations: [blocked, warns] });
  const told = { answered: 'rejected', cause: 'deadline', answeredAtMs: clock.nowMs() } as const;
  await ledger.recordUnmetered([{ ...ask, ...told }], clock.monotonicMs() + 2_000);
  expect(await ledger.readRecord(1)).toMatchObject({ violations: [blocked], shadow: [warns] });
});

test('an answer of the fallback charges a job that was released before it, and none that was released in the same instant', async () => {
  const clock = manualClock();
  const ledger = createLedger({ store: new MemoryStore({ instance: 'gitlab.example.com', clock }), clock });
  const ask = anAsk(1, [claim('group/1', 10, 100)]);
  await ledger.hold([ask], clock.monotonicMs() + 2_000);
  await ledger.release([{ jobId: 1, cause: 'canceled' }]);
  const releasedAtMs = clock.nowMs();
  const told = async (answeredAtMs: number) => {
    const answer = { answered: 'admitted', cause: 'deadline', answeredAtMs } as const;
    await ledger.recordUnmetered([{ ...ask, ...answer }], clock.monotonicMs() + 2_000);
    return (await ledger.readRecord(1))?.state;
  };
  expect(await told(releasedAtMs)).toBe('RELEASED');
  clock.advance(1);
  expect(await told(releasedAtMs + 1)).toBe('HELD');
});
