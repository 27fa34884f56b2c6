import { describe, expect, test } from 'vitest';
import { MemoryTable } from '../../../../functions/core/store/memory-table.ts';
import { itemBytes } from '../../../../functions/core/store/operation.ts';
import { contributionOf, tallyFor } from '../../../../functions/core/usage/contribution.ts';
import { DynamoRollupStore } from '../../../../functions/core/usage/rollup-store.ts';
import { coverageOfDays } from '../../../../functions/core/usage/sums.ts';
import { runnerNames } from '../../../../functions/core/usage/usage.ts';
import { someFacts } from '../../../support/ledger/asks.ts';
import { aRecord, Feed, INSTANCE, rollupBench, settled } from '../../../support/ledger/rollup-bench.ts';
import { manualClock } from '../../../support/ledger/test-clock.ts';

const DAY = '2026-11-21';
const facts = (runnerId?: number, groupId = 104) =>
  someFacts({ projectId: 7, groupId, rootId: 100, ...(runnerId && { asked: { runnerId } }) });
const ran = (jobId: number, runnerId?: number) => settled(aRecord({ jobId, facts: facts(runnerId) }), 30);
const ranOn = (runnerId: number, record: ReturnType<typeof ran>) => ({
  ...record,
  facts: { ...record.facts, runnerId },
});
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
  return coverageOfDays([{ day: DAY, tally }]);
}

describe('coverage', () => {
  test('a job that nobody asked about ran and was not asked; one that the fallback let in was asked', async () => {
    const unmetered = { ...ran(3, 41), unchecked: 'unmetered' as const };
    const coverage = await coverageAfter([ran(1, 41), passed(2, 42), unmetered]);
    expect(coverage).toEqual({
      ran: 3,
      unasked: 1,
      lastUnaskedDay: DAY,
      ranRejected: 0,
      runners: new Map([
        [41, { ran: 2, unasked: 0 }],
        [42, { ran: 1, unasked: 1, lastUnaskedDay: DAY }],
      ]),
    });
  });

  test('a job that was rejected and ran was asked: that is a finding of its own', async () => {
    const coverage = await coverageAfter([{ ...passed(1, 41), flagged: true }]);
    expect(coverage).toMatchObject({ ran: 1, unasked: 0, ranRejected: 1 });
    expect(coverage.runners.get(41)).toEqual({ ran: 1, unasked: 0 });
  });

  test('what has not ended, and what never ran, is no part of it', async () => {
    const released = { ...ran(2, 41), state: 'RELEASED' as const };
    expect(await coverageAfter([aRecord({ facts: facts(41) }), released])).toMatchObject({
      ran: 0,
      unasked: 0,
      runners: new Map(),
    });
  });

  test('the runner that GitLab told with the end counts, where the question named none', async () => {
    const { runners } = await coverageAfter([ranOn(43, ran(1)), ranOn(43, ran(2, 41))]);
    expect([...runners]).toEqual([[43, { ran: 2, unasked: 0 }]]);
  });

  test('runners are told on groups only, and the instance tells those of jobs without a group', async () => {
    expect((await coverageAfter([passed(1, 41)], 'instance')).runners.size).toBe(0);
    expect((await coverageAfter([passed(1, 41)], 'group/104')).runners.size).toBe(1);
    expect((await coverageAfter([passed(1, 41)], 'project/7')).runners.size).toBe(0);
    const homeless = someFacts({ asked: { runnerId: 41 } });
    const record = { ...passed(1, 41), facts: homeless };
    expect([...(await coverageAfter([record], 'instance')).runners.keys()]).toEqual([41]);
  });

  test('jobs stay on the groups they ran in when the group moves', async () => {
    const { store, deliver } = rollupBench();
    const feed = new Feed();
    feed.push(passed(1, 41));
    await deliver(feed.records);
    const moved = new Feed();
    // A later word of the same job, told after the group went below another root.
    moved.push({ ...passed(1, 41), rev: 9, facts: { ...facts(41), rootId: 200, groupIds: [200, 104] } });
    await deliver(moved.records);
    const [old, now] = await store.readUsage([
      { subject: 'group/100', day: DAY },
      { subject: 'group/200', day: DAY },
    ]);
    expect(coverageOfDays([{ day: DAY, tally: old ?? new Map() }]).unasked).toBe(1);
    expect(coverageOfDays([{ day: DAY, tally: now ?? new Map() }]).ran).toBe(0);
  });

  test('a day names a hundred runners of a top-level group, and counts the jobs of others together', async () => {
    const records = Array.from({ length: 130 }, (_, index) => passed(index + 1, 1_000 + index));
    const coverage = await coverageAfter(records);
    expect(coverage).toMatchObject({ ran: 130, unasked: 130 });
    expect(coverage.runners.size).toBe(101);
    expect(coverage.runners.get('other')).toMatchObject({ ran: 30, unasked: 30 });
  });

  test.each([
    [40, 1_024],
    [100, 2_048],
  ])(
    'a day with the names of %i runners, that ask at times, stays within %i bytes',
    async (count, bytesMax) => {
      const table = new MemoryTable();
      const store = new DynamoRollupStore({
        table,
        instance: INSTANCE,
        clock: manualClock(),
        random: () => 0,
      });
      const names = Array.from({ length: count }, (_, index) => String(1_000 + index));
      const delta = new Map<string, number>(
        names.flatMap((name) => [`a:${name}`, `b:${name}`].map((each) => [each, 1_000] as const)),
      );
      const counts = ['jobs', 'admitted', 'ran', 'unasked', 'bypass', 'seconds', 'settledMicros'];
      for (const each of counts) delta.set(each, 9_999_999);
      await store.commit({ contributions: [], usage: [{ key: { subject: 'group/100', day: DAY }, delta }] });
      // Rules and ratios of the day have their room beside it.
      expect(itemBytes(table.items()[0] ?? {})).toBeLessThan(bytesMax);
    },
  );

  test('a contribution is taken out as it was put in, whatever its runner is called by then', () => {
    const names = runnerNames();
    const placeOf = () => ({ day: DAY, subjects: ['instance', 'group/100'] });
    const before = contributionOf(passed(1, 5_000), undefined, placeOf, names);
    for (let id = 1; id <= 100; id += 1) names(id, DAY, placeOf().subjects);
    const after = contributionOf({ ...passed(1, 6_000), rev: 9 }, before, placeOf, names);
    expect(tallyFor('group/100', before).get('b:5000')).toBe(1);
    expect(tallyFor('group/100', after).get('b:*')).toBe(1);
  });
});
