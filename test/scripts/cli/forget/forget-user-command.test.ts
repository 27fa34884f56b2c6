import { gunzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { type PseudonymKeys, replaceUserIds } from '../../../../functions/core/ledger/user-ids.ts';
import { eachSum, FIGURES } from '../../../../functions/core/sheets/sheet-rows.ts';
import { dynamoSheetStore } from '../../../../functions/core/sheets/sheet-store.ts';
import { MemoryTable } from '../../../../functions/core/store/memory-table.ts';
import { packJobs } from '../../../../functions/drift/pack-jobs.ts';
import { EXIT, UsageError } from '../../../../scripts/terminal/command.ts';
import { aRequest, ledgerBench } from '../ledger-bench.ts';

const DAY_MS = 86_400_000;
const ALICE = 987_654_321;
const BOB = 123_456_789;

/** Alice and Bob each have a job of long ago, one of yesterday and one that runs; limits count for users, too. */
async function house() {
  const bench = ledgerBench({
    policy: { rules: [{ id: 'budgets', kind: 'budget', mode: 'enforce' }] },
    limits: [
      { on: { group: 101 }, money: 100_000, per: 'month' },
      ...[ALICE, BOB].map((user) => ({ on: { user }, money: 1_000, per: 'month' })),
    ],
  });
  const { clock, ledger, store } = bench;
  const made = new Map<number, Uint8Array>();
  const keys: PseudonymKeys = {
    find: async (year) => made.get(year),
    keyOf: async (year) => {
      const key = made.get(year) ?? new TextEncoder().encode(`key of ${year}`);
      made.set(year, key);
      return key;
    },
  };
  const signedIn = new Map([
    [ALICE, 2],
    [BOB, 1],
  ]);
  const sessions = {
    end: async (userId: number, { dryRun }: { readonly dryRun: boolean }) => {
      const ended = signedIn.get(userId) ?? 0;
      if (!dryRun) signedIn.delete(userId);
      return ended;
    },
  };
  const beside = new MemoryTable();
  const sheets = dynamoSheetStore({
    ...{ table: beside, instance: 'gitlab.example.com' },
    clock,
    random: () => 0,
  });
  const pack = async (...jobIds: number[]): Promise<void> => {
    clock.advance(DAY_MS);
    await packJobs(Number.POSITIVE_INFINITY, {
      ...{ sheets, clock, zone: 'UTC', recentJobIds: async () => jobIds },
      readRecords: (ids) => ledger.readRecords(ids),
    });
  };
  const jobs = async (ids: readonly [number, number], ends: boolean): Promise<void> => {
    await bench.ask([aRequest(ids[0], { userId: ALICE }), aRequest(ids[1], { userId: BOB })]);
    if (ends)
      await ledger.settle(
        ids.map((jobId) => ({
          jobId,
          durationSeconds: 60,
          endedAtMs: clock.nowMs(),
          queuedSeconds: 10 + jobId,
        })),
      );
  };
  await jobs([1, 2], true);
  await pack(2);
  clock.advance(104 * DAY_MS);
  store.collectGarbage();
  beside.collectGarbage(clock.nowMs());
  await replaceUserIds([1, 2], Number.POSITIVE_INFINITY, { store, keys, clock });
  await jobs([3, 4], true);
  await jobs([5, 6], false);
  await pack(4, 6);
  const openToRepair = bench.opening(store, { names: { store, keys, sessions, sheets } });
  const forget = (...args: string[]) => bench.run('forget user', args, { openToRepair });
  /** All that is stored, with what is packed in sheets. */
  const everything = (): string =>
    JSON.stringify([
      ...store.dump(),
      ...beside.items().map((item) => {
        const names = Buffer.from(item.by?.B ?? []).subarray(0, Number(item.na?.N ?? 0));
        return { ...item, names: names.length === 0 ? '' : gunzipSync(names).toString() };
      }),
    ]);
  const readSheets = async () => {
    const [sheet] = await sheets.read([{ kind: 'user', span: '2027-03-06' }]);
    return sheet;
  };
  return { ...bench, forget, everything, pack, readSheets, beside };
}

const jsonOf = ({ code, out }: { readonly code: number; readonly out: string }) => ({
  code,
  ...JSON.parse(out),
});

test('a user is taken out of every record, nobody else is, and the books stay right', async () => {
  const { forget, everything, ledger, clock, store, beside, pack, readSheets } = await house();
  const settled = async () =>
    (await ledger.readCounters([{ subject: 'group/101', limit: 'money-month', period: '2027-03' }]))[0];
  const before = await settled();
  const rows = async () => (await readSheets())?.names;
  expect(await rows()).toEqual([`1001\n${BOB}`, `1001\n${ALICE}`]);
  const bobs = await ledger.readRecords([2, 4, 6]);
  const asked = jsonOf(await forget(String(ALICE), '--dry-run', '--json'));
  expect(asked).toMatchObject({
    code: EXIT.ok,
    dryRun: true,
    records: 2,
    sessions: 2,
    stays: { liveJobs: 1 },
  });
  expect(await ledger.readRecord(3)).toMatchObject({ facts: { userId: ALICE } });

  const counters = [`user/${ALICE}|money-month|2027-03`];
  expect(jsonOf(await forget(String(ALICE), '--yes', '--json'))).toEqual({
    ...{
      code: EXIT.ok,
      user: ALICE,
      dryRun: false,
      records: 2,
      sessions: 2,
      reportDays: 1,
      left: 0,
    },
    stays: { liveJobs: 1, counters },
  });
  for (const record of await ledger.readRecords([1, 3])) {
    expect(record?.facts).not.toHaveProperty('userId');
    expect(record?.facts.userPseudonym).toBe('~');
  }
  expect(await ledger.readRecords([2, 4, 6])).toEqual(bobs);
  // A night still finds the job that is not over.
  expect(await rows()).toEqual([`1001\n${BOB}`]);
  // His row is what it was, with how long his job was queued.
  const queued: number[] = [];
  eachSum((await readSheets()) ?? { bytes: new Uint8Array() }, (_, sum) =>
    queued.push(sum[FIGURES.indexOf('queuedSeconds')] ?? 0),
  );
  expect(Math.max(...queued)).toBe(14);
  await pack(6);
  expect(await rows()).toEqual([`1001\n${BOB}`, `1001\n${ALICE}`]);
  expect(await settled()).toEqual(before);
  expect((await ledger.rebuild({ repair: false })).drift).toEqual([]);

  // The job that was not over ends, and its periods do: then nothing is left of her.
  await ledger.settle([{ jobId: 5, durationSeconds: 60, endedAtMs: clock.nowMs() }]);
  expect(jsonOf(await forget(String(ALICE), '--yes', '--json'))).toMatchObject({
    records: 1,
    sessions: 0,
    reportDays: 1,
  });
  expect(await rows()).toEqual([`1001\n${BOB}`]);
  clock.advance(122 * DAY_MS);
  store.collectGarbage();
  beside.collectGarbage(clock.nowMs());
  await forget(String(ALICE), '--yes');
  expect(everything()).not.toContain(String(ALICE));
  expect(everything()).toContain(String(BOB));
  expect((await ledger.rebuild({ repair: false })).drift).toEqual([]);
});

test('it asks first, and takes ids of users alone', async () => {
  const { forget, everything } = await house();
  const before = everything();
  for (const args of [
    [],
    ['alice'],
    ['0'],
    ['-7'],
    ['7', '8', '--yes'],
    ['7', '--yes', '--dry-run'],
    [String(ALICE)],
  ])
    await expect(forget(...args)).rejects.toThrow(UsageError);
  expect(everything()).toBe(before);
});
