/** The second set of sums: never a drift that is none, under load and however the stream delivers, and each that is one within two checks. */
import fc from 'fast-check';
import { expect, test, vi } from 'vitest';
import { EPOCH_MS } from '../../../../functions/core/ledger/slots.ts';
import type { Key } from '../../../../functions/core/store/keys.ts';
import { anAsk, claim, counter } from '../../../support/ledger/asks.ts';
import { keys } from '../../../support/ledger/rollup-bench.ts';
import { propertyRuns } from '../../../support/property-runs.ts';
import { BEGUN_MINUTES, books, type House, MINUTE_MS, SHARDS } from './books-house.ts';

/** Load in every minute, and a stream that is two minutes late. */
async function busy({ run, pass, shards, deliverSome }: House, minutes: number): Promise<void> {
  for (let minute = 0; minute < minutes; minute += 1) {
    await run(1 + (minute % 3), 2);
    const late = shards.map((shard) => shard.length);
    await pass(MINUTE_MS);
    for (const [shard, count] of late.entries()) await deliverSome(shard, Math.max(0, count - 4), false);
  }
}

test('a counter that is never still is compared all the same: every epoch, with nothing passed over', async () => {
  const house = books();
  await busy(house, 120);
  expect(house.drifting()).toEqual([]);
  expect(house.checks.reduce((sum, { passedOver }) => sum + passedOver, 0)).toBe(0);
  // Each of the epochs that are over, twice: three groups, everybody's money and jobs.
  expect(house.checks.at(-1)).toMatchObject({ compared: 10 });
});

test('a write by hand on a busy counter is found within two checks, and once', async () => {
  const house = books();
  await busy(house, BEGUN_MINUTES);
  await byHand(house, 'instance');
  await busy(house, 40);
  expect(house.drifting()).toEqual(['instance|money-month|2026-11']);
  await busy(house, 60);
  expect(house.drifting()).toEqual(['instance|money-month|2026-11']);
  // Every later check says when that was, so that a recount can follow.
  const doubts = house.checks.map(({ doubtedAtMs }) => doubtedAtMs);
  const first = doubts.find((atMs) => atMs !== undefined);
  expect(doubts.slice(doubts.indexOf(first)).every((atMs) => atMs === first)).toBe(true);
  expect(doubts.indexOf(first)).toBe(house.checks.findIndex(({ drifting }) => drifting.length > 0));
});

test('a write by hand on a counter that nobody else writes is found as well', async () => {
  const house = books();
  await busy(house, BEGUN_MINUTES);
  await house.run(7, 2);
  await busy(house, 60);
  expect(house.drifting()).toEqual([]);
  await byHand(house, 'group/7');
  await busy(house, 40);
  expect(house.drifting()).toEqual(['group/7|money-month|2026-11']);
});

const byHand = ({ table }: House, subject: string, c = 5) =>
  table.send('UpdateItem', { kind: 'update', key: keys.counter(counter(subject)), add: { c } });

test('what differs at one check and no more at the next is no drift', async () => {
  const house = books();
  await busy(house, BEGUN_MINUTES);
  await byHand(house, 'instance');
  await busy(house, 15);
  await byHand(house, 'instance', -5);
  await busy(house, 60);
  expect(house.drifting()).toEqual([]);
});

test('a counter that is new is compared from its first epochs on', async () => {
  const house = books();
  await busy(house, BEGUN_MINUTES);
  await house.run(7, 2);
  await busy(house, 15);
  await house.run(7, 1);
  const key = keys.counter(counter('group/7'));
  const slot = Math.floor(house.clock.nowMs() / EPOCH_MS) % 4;
  await house.table.send('UpdateItem', { kind: 'update', key, add: { r: 1, [`n${slot}`]: 1 } });
  await busy(house, 60);
  expect(house.drifting()).toEqual(['group/7|money-month|2026-11']);
});

test('a record of the stream that never comes is found within two checks of its epoch', async () => {
  const house = books();
  await busy(house, BEGUN_MINUTES);
  await house.run(2, 1);
  const lost = `job#${house.jobs()}`;
  for (const shard of house.shards) {
    const at = shard.findIndex(({ dynamodb }) => JSON.stringify(dynamodb.NewImage).includes(lost));
    if (at >= 0) shard.splice(at, 1);
  }
  await busy(house, 40);
  expect(new Set(house.drifting())).toEqual(
    new Set(['group/2|money-month|2026-11', 'instance|money-month|2026-11', 'instance|jobs|now']),
  );
});

test.each([
  { moved: 'by another amount than its record says', add: { c: 3, f: 3, r: 1 }, slot: { w: 12 } },
  { moved: 'once more than records say, by nothing', add: { r: 1 }, slot: { n: 1 } },
])('a counter that a job moved $moved is found', async ({ add, slot }) => {
  const house = books();
  await busy(house, BEGUN_MINUTES);
  const { table } = house;
  // As a program with a fault would do it: in one epoch's slot, with `rev`.
  const epoch = Math.floor(house.clock.nowMs() / EPOCH_MS) % 4;
  const inSlot = Object.fromEntries(Object.entries(slot).map(([name, by]) => [`${name}${epoch}`, by]));
  const key = keys.counter(counter('group/1'));
  await table.send('UpdateItem', { kind: 'update', key, add: { ...add, ...inSlot } });
  await busy(house, 40);
  expect(house.drifting()).toEqual(['group/1|money-month|2026-11']);
});

test('a counter that lost what its records moved is found, also where nothing of it is left', async () => {
  const house = books();
  await busy(house, BEGUN_MINUTES);
  await house.run(7, 2);
  await busy(house, 60);
  const key = keys.counter(counter('group/7'));
  const before = house.table.items().find(({ pk, sk }) => pk?.S === key.pk && sk?.S === key.sk);
  if (before === undefined) throw new Error('group 7 has no counter');
  await house.run(7, 1);
  await house.table.send('PutItem', { kind: 'put', item: before });
  await busy(house, 40);
  expect(house.drifting()).toEqual(['group/7|money-month|2026-11']);
});

test('a counter that stood still for hours is compared without reading what lies between', async () => {
  const house = books();
  await busy(house, BEGUN_MINUTES);
  await house.deliverAll();
  await house.pass(12 * EPOCH_MS);
  const readFrom = Math.floor(house.clock.nowMs() / EPOCH_MS);
  const read = vi.spyOn(house.log, 'read');
  await house.run(1, 1);
  await house.deliverAll();
  await house.pass(3 * EPOCH_MS);
  expect(Math.min(...read.mock.calls.map(([epoch]) => epoch))).toBeGreaterThanOrEqual(readFrom - 2);
  expect(house.checks.at(-2)?.compared).toBeGreaterThan(0);
  expect(house.drifting()).toEqual([]);
});

test('one shard of the stream that is late for one check, while the others go on, is no drift', async () => {
  const house = books();
  await busy(house, BEGUN_MINUTES - 3);
  for (let minute = 0; minute < 12; minute += 1) {
    await house.run(1, 2);
    await house.pass(MINUTE_MS);
    for (const shard of [1, 2]) await house.deliverSome(shard, Number.POSITIVE_INFINITY, false);
  }
  await house.deliverAll();
  await busy(house, 40);
  expect(house.drifting()).toEqual([]);
  expect(house.checks.every(({ passedOver }) => passedOver === 0)).toBe(true);
});

test('a counter that garbage collection took and that comes back is no drift', async () => {
  const house = books();
  await busy(house, BEGUN_MINUTES);
  await house.run(7, 9);
  await busy(house, 60);
  await remove(house, keys.counter(counter('group/7')));
  await house.run(7, 1);
  await busy(house, 60);
  expect(house.drifting()).toEqual([]);
});

test('what was known of busy counters and is lost is learned anew, and is no drift', async () => {
  const house = books();
  await busy(house, BEGUN_MINUTES);
  await remove(house, keys.sumMemory('instance'));
  await busy(house, 90);
  expect(house.drifting()).toEqual([]);
});

test('a counter that moved days ago, of which nothing is known any more, is no new one and no drift', async () => {
  const house = books();
  await busy(house, BEGUN_MINUTES);
  await house.run(7, 2);
  await house.deliverAll();
  await house.pass(101 * EPOCH_MS);
  await remove(house, keys.sumMemory('group/7'));
  for (let epoch = 0; epoch < 8; epoch += 1) {
    await house.run(7, 1);
    await house.deliverAll();
    await house.pass(EPOCH_MS);
  }
  await house.pass(3 * EPOCH_MS);
  expect(house.drifting()).toEqual([]);
});

const remove = ({ table }: House, key: Key) => table.send('DeleteItem', { key });

test('while the stream stands still nothing is drift, and it is said that nothing was compared', async () => {
  const house = books();
  await busy(house, BEGUN_MINUTES);
  for (let minute = 0; minute < 60; minute += 1) {
    await house.run(1, 1);
    await house.pass(MINUTE_MS);
  }
  await house.deliverAll();
  await busy(house, 60);
  expect(house.drifting()).toEqual([]);
});

test('marks of the nightly recount and repairs of what was found are no drift', async () => {
  const house = books();
  await busy(house, BEGUN_MINUTES);
  await byHand(house, 'group/2');
  expect(await house.ledger.rebuild({ repair: false, mark: true })).toMatchObject({ drift: [{}] });
  await busy(house, 40);
  expect(house.drifting()).toEqual(['group/2|money-month|2026-11']);
  expect(await house.ledger.rebuild({ repair: true })).toMatchObject({ repaired: 1 });
  await busy(house, 60);
  expect(house.drifting()).toHaveLength(1);
});

/** What a shard may be late alone: a little less than what lies between the end of an epoch and its second look. */
const LATE_MINUTES_MAX = 20;

test('any history, delivered in any batches, again and late, is no drift', async () => {
  const step = fc.oneof(
    fc.record({ run: fc.integer({ min: 1, max: 4 }), count: fc.integer({ min: 1, max: 3 }) }),
    fc.record({ end: fc.nat(30), again: fc.boolean() }),
    fc.record({ gone: fc.nat(30), charge: fc.constantFrom('hold' as const, 'nothing' as const) }),
    fc.record({ minutes: fc.integer({ min: 1, max: 20 }) }),
    fc.record({ shard: fc.nat(SHARDS), some: fc.integer({ min: 1, max: 12 }), again: fc.boolean() }),
    fc.constant({ all: true }),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 20, maxLength: 60 }), async (steps) => {
      const house = books();
      const { ledger, clock } = house;
      let lateMinutes = 0;
      for (let group = 1; group <= 6; group += 1) {
        await house.run(1 + (group % 4), 2);
        await house.deliverAll();
        await house.pass(EPOCH_MS);
      }
      for (const each of steps) {
        if ('run' in each) await house.run(each.run, each.count);
        else if ('end' in each) {
          await house.end(each.end);
          if (each.again)
            await ledger.settle([{ jobId: each.end, durationSeconds: 200, endedAtMs: clock.nowMs() + 1 }]);
        } else if ('gone' in each) {
          await ledger.expire([{ jobId: each.gone, cause: 'gone', charge: each.charge }]);
          // Asked about again, it gives its charge back first.
          if (each.gone % 2 === 0)
            await ledger.hold(
              [anAsk(each.gone, [claim('group/1', 70, 1_000_000)])],
              Number.POSITIVE_INFINITY,
            );
        } else if ('minutes' in each) {
          // Since when nothing waits any more, at the latest.
          lateMinutes = house.shards.every(({ length }) => length === 0) ? 0 : lateMinutes;
          if (lateMinutes + each.minutes > LATE_MINUTES_MAX) {
            await house.deliverAll();
            lateMinutes = 0;
          } else lateMinutes += each.minutes;
          await house.pass(each.minutes * MINUTE_MS);
        } else if ('some' in each) await house.deliverSome(each.shard, each.some, each.again);
        else await house.deliverAll();
      }
      await house.deliverAll();
      await house.pass(3 * EPOCH_MS);
      expect(house.drifting()).toEqual([]);
    }),
    { numRuns: propertyRuns(40) },
  );
});
