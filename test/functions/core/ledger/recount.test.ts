/** What every counter must show: added up from items as the table has them. */
import { expect, test } from 'vitest';
import { createLedger } from '../../../../functions/core/ledger/create-ledger.ts';
import type { CounterAmounts } from '../../../../functions/core/ledger/ledger.ts';
import { MemoryStore } from '../../../../functions/core/ledger/memory-store.ts';
import { recount } from '../../../../functions/core/ledger/recount.ts';
import type { StoredItem } from '../../../../functions/core/ledger/store.ts';
import { counterName } from '../../../../policies/claim.ts';
import { anAsk, claim, counter } from '../../../support/ledger/asks.ts';
import { manualClock } from '../../../support/ledger/test-clock.ts';

/** Its period is long over when it is closed. */
const KEY = counter('group/1', 'money-month', '2026-01');
const NAME = counterName(KEY);
const CLOSED_AT_MS = Date.UTC(2026, 5, 1);

const amounts = (committed: number): CounterAmounts => ({
  ...{ committed, fitted: committed, settled: committed },
  unchecked: { exempt: 0, unmetered: 0, bypass: 0 },
});

const closing: StoredItem = {
  kind: 'closing',
  closing: { key: KEY, ...amounts(100), closedAtMs: CLOSED_AT_MS },
};

const correction = (atMs: number, delta: number): StoredItem => ({
  kind: 'entry',
  entry: {
    ...{ jobId: 1, number: 1, generation: 1, cause: 'duration', atMs },
    deltas: [{ counter: KEY, unit: 'micros', delta, fitted: true, checked: true }],
  },
});

test('a closed period counts what was corrected after its closing, and not what its closing has', async () => {
  const items = [
    correction(CLOSED_AT_MS - 1, 1),
    correction(CLOSED_AT_MS, 2),
    correction(CLOSED_AT_MS + 1, 4),
  ];
  expect((await recount([...items, closing])).expected(NAME)).toEqual(amounts(104));
  expect((await recount(items)).expected(NAME)).toEqual(amounts(7));
});

test('a closing is out of date from the instant on that a correction after it is older than what is asked for', async () => {
  const late = await recount([closing, correction(CLOSED_AT_MS + 5, 1)]);
  expect(late.correctedBefore(NAME, CLOSED_AT_MS + 5)).toBe(false);
  expect(late.correctedBefore(NAME, CLOSED_AT_MS + 6)).toBe(true);
  const inIt = await recount([closing, correction(CLOSED_AT_MS, 1)]);
  expect(inIt.correctedBefore(NAME, CLOSED_AT_MS + 6)).toBe(false);
  const open = await recount([correction(CLOSED_AT_MS + 5, 1)]);
  expect(open.correctedBefore(NAME, CLOSED_AT_MS + 6)).toBe(false);
});

test('a job that a limit in shadow would have refused counts as committed, and not as one that fitted', async () => {
  const clock = manualClock();
  const store = new MemoryStore({ instance: 'gitlab.example.com', clock });
  const ledger = createLedger({ store, clock, random: () => 0 });
  for (const jobId of [1, 2])
    await ledger.hold([anAsk(jobId, [claim('group/1', 10, 15, { mode: 'shadow' })])], 1e9);
  const counted = await recount(store.scan());
  expect(counted.expected(counterName(counter('group/1')))).toMatchObject({ committed: 20, fitted: 10 });
});

test('what asked is not unchecked, and of what did not ask only a job with a cause is', async () => {
  const clock = manualClock();
  const store = new MemoryStore({ instance: 'gitlab.example.com', clock });
  const ledger = createLedger({ store, clock, random: () => 0 });
  await ledger.hold(
    [anAsk(1, [claim('group/1', 10, 1_000), claim('group/2', 20)], { unchecked: 'exempt' })],
    1e9,
  );
  await ledger.hold([anAsk(2, [claim('group/1', 1, 1_000), claim('group/2', 2)])], 1e9);
  const counted = await recount(store.scan());
  const expected = (group: number) => counted.expected(counterName(counter(`group/${group}`)));
  expect(expected(1)).toStrictEqual({ ...amounts(11), settled: 0 });
  expect(expected(2)).toStrictEqual({
    ...{ ...amounts(22), settled: 0 },
    unchecked: { exempt: 20, unmetered: 0, bypass: 0 },
  });
  expect(await ledger.readCounters([counter('group/1'), counter('group/2')])).toMatchObject([
    expected(1),
    expected(2),
  ]);
});
