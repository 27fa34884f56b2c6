import { expect, test, vi } from 'vitest';
import { silentLog } from '../../../../functions/core/environment/environment.ts';
import { LimitStore, type PreviousCounters } from '../../../../functions/core/limits/limit-store.ts';
import { publishLimits } from '../../../../functions/core/limits/publish-limits.ts';
import { indexDirectory } from '../../../../policies/directory.ts';
import { limitAt, limitsOn } from '../../../../policies/limits/limits.ts';
import { aPolicy, someLimits } from '../../../policies/documents.ts';
import { manualClock } from '../../../support/ledger/test-clock.ts';
import { type LimitOperation, memoryLimitTable } from '../../../support/tables/memory-limit-table.ts';

const DIRECTORY = indexDirectory([
  { id: 100, path: 'acme', personal: false },
  { id: 101, parentId: 100, path: 'acme/payments', personal: false },
  { id: 200, path: 'other', personal: false },
]);
const MICROS = 1_000_000;

function build(
  counters: PreviousCounters = async (keys) => keys.map(() => ({ committed: 0, settled: 0, rev: 0 })),
) {
  const calls: Partial<Record<LimitOperation, number>> = {};
  let fault: LimitOperation | undefined;
  const table = memoryLimitTable((operation) => {
    calls[operation] = (calls[operation] ?? 0) + 1;
    return operation === fault ? 'lost-before' : undefined;
  });
  const clock = manualClock();
  const policy = aPolicy();
  const packed = someLimits({ limits: [{ on: { group: 100 }, money: 1, per: 'month' }] });
  const newStore = () => new LimitStore({ table, policy, packed, clock, previous: counters, log: silentLog });
  let edits = 0;
  const publish = async (limits: readonly object[]): Promise<void> => {
    edits += 1;
    const live = await table.getPointer({ timeoutMs: 1 });
    const change = {
      actor: 'finance',
      why: 'test',
      source: 'test',
      atMs: edits,
      ...(live !== undefined && { base: live.set }),
    };
    const outcome = await publishLimits({ limits }, change, { table, policy, directory: DIRECTORY });
    if (outcome.outcome !== 'live') throw new Error(JSON.stringify(outcome));
  };
  const store = newStore();
  const amount = async (subject: string, by = store): Promise<unknown> => {
    const [limit] = limitsOn(await by.limitsFor([subject]), subject);
    return limit && limitAt(limit, clock.nowMs()).amount;
  };
  return {
    table,
    clock,
    calls,
    store,
    newStore,
    publish,
    amount,
    breakIt: (operation: LimitOperation | undefined) => {
      fault = operation;
    },
  };
}

const money = (group: number, amount: number, more: object = {}) => ({
  on: { group },
  money: amount,
  per: 'month',
  ...more,
});

test('a change is seen after five seconds, and within them nobody asks the table', async () => {
  const { amount, publish, clock, calls } = build();
  await publish([money(100, 7)]);
  await amount('group/100');
  await publish([money(100, 8)]);
  const before = calls.getPointer;
  clock.advance(4_999);
  expect(await amount('group/100')).toBe(7 * MICROS);
  expect(calls.getPointer).toBe(before);
  clock.advance(1);
  expect(await amount('group/100')).toBe(8 * MICROS);
});

test('a look that began before the raise does not answer for a question that came after it', async () => {
  const { store, publish, table } = build();
  await publish([money(100, 7)]);
  const { version } = await store.limitsFor(['group/100']);
  const { promise: arrives, resolve: arrive } = Promise.withResolvers<void>();
  const early = await table.getPointer({ timeoutMs: 1 });
  const slow = vi.spyOn(table, 'getPointer').mockImplementationOnce(() => arrives.then(() => early));
  const before = store.recheck(version);
  await publish([money(100, 8)]);
  const after = [store.recheck(version), store.recheck(version)];
  arrive();
  expect(await Promise.all(after)).toEqual([true, true]);
  await before;
  // One look for both, and those of the edit.
  expect(slow.mock.calls.length).toBe(4);
});

test('the limits of a group that was moved to another root are still found by the group', async () => {
  const { store, publish } = build();
  await publish([money(101, 7)]);
  expect(limitsOn(await store.limitsFor(['group/200', 'group/101']), 'group/101')).toHaveLength(1);
});

test('when the table is silent the last valid limits stay; without any there is no answer', async () => {
  const { amount, publish, clock, breakIt, newStore } = build();
  await publish([money(100, 7)]);
  await amount('group/100');
  breakIt('getPointer');
  clock.advance(60_000);
  expect(await amount('group/100')).toBe(7 * MICROS);
  await expect(newStore().limitsFor(['group/100'])).rejects.toMatchObject({ code: 'limits_unavailable' });
});

test('a new set that cannot be read whole does not take effect in part', async () => {
  const { amount, publish, clock, breakIt } = build();
  await publish([money(100, 7), money(200, 9)]);
  await amount('group/100');
  await amount('group/200');
  await publish([money(100, 1), money(200, 1)]);
  breakIt('readChunks');
  clock.advance(5_000);
  expect([await amount('group/100'), await amount('group/200')]).toEqual([7 * MICROS, 9 * MICROS]);
  breakIt(undefined);
  clock.advance(5_000);
  expect([await amount('group/100'), await amount('group/200')]).toEqual([1 * MICROS, 1 * MICROS]);
});

test('a root whose limits cannot be read is not one without limits', async () => {
  const { store, publish, breakIt } = build();
  await publish([money(100, 7)]);
  await store.limitsFor([]);
  breakIt('readChunks');
  await expect(store.limitsFor(['group/100'])).rejects.toMatchObject({ code: 'limits_unavailable' });
});

test('what was left over is fixed when the period opens: a late settlement does not move it, nor another program', async () => {
  const seen = { committed: 4 * MICROS, settled: 1 * MICROS, rev: 9 };
  const { amount, publish, newStore, clock } = build(async (keys) => keys.map(() => seen));
  await publish([money(100, 10, { carry: { max: '50%' } })]);
  // 6 of October's 10 are left, 5 may come over.
  expect(await amount('group/100')).toBe(15 * MICROS);
  seen.committed = 9 * MICROS;
  clock.advance(5_000);
  expect(await amount('group/100')).toBe(15 * MICROS);
  expect(await amount('group/100', newStore())).toBe(15 * MICROS);
});

test.each([
  { idle: 'one period', until: Date.UTC(2027, 0, 15) },
  { idle: 'eleven periods', until: Date.UTC(2027, 10, 15) },
  { idle: 'thirteen periods', until: Date.UTC(2028, 0, 15) },
])(
  '$idle without a job and without a look at the limit leave as much as if somebody had looked',
  async ({ until }) => {
    for (const looks of [true, false]) {
      const { amount, publish, clock } = build();
      await publish([money(100, 10, { carry: { max: '50%' } })]);
      await amount('group/100');
      if (looks) {
        clock.advance(Date.UTC(2026, 11, 15) - clock.nowMs());
        expect(await amount('group/100')).toBe(15 * MICROS);
      }
      clock.advance(until - clock.nowMs());
      expect(await amount('group/100')).toBe(15 * MICROS);
    }
  },
);

test('what was overdrawn is taken from the next period even if nobody looks at that one', async () => {
  const november = { committed: 17 * MICROS, settled: 17 * MICROS, rev: 9 };
  const nothing = { committed: 0, settled: 0, rev: 0 };
  const { amount, publish, clock } = build(async (keys) =>
    keys.map(({ period }) => (period === '2026-11' ? november : nothing)),
  );
  await publish([money(100, 10, { carry: { max: '50%' }, overdraft: 'carry' })]);
  clock.advance(Date.UTC(2027, 0, 15) - clock.nowMs());
  // December had 3, of which nothing was used.
  expect(await amount('group/100')).toBe(13 * MICROS);
});
