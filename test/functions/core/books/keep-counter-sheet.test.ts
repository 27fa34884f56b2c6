/** What a check adds to the sheet of counters, on stand-ins: which epochs it reads again, and when the sheet begins anew. */
import { expect, test } from 'vitest';
import {
  type CounterSheet,
  dynamoCounterSheet,
  withCounters,
} from '../../../../functions/core/books/counter-sheet.ts';
import {
  completeCounterSheet,
  keepCounterSheet,
} from '../../../../functions/core/books/keep-counter-sheet.ts';
import type { Counter } from '../../../../functions/core/ledger/ledger.ts';
import { EPOCH_MS, epochAt } from '../../../../functions/core/ledger/slots.ts';
import { MemoryTable } from '../../../../functions/core/store/index.ts';
import { counterName } from '../../../../policies/claim.ts';
import { counter } from '../../../support/ledger/asks.ts';

const INSTANCE = 'gitlab.example.com';
const NOW_MS = 1_000 * EPOCH_MS;
/** Looked at twice by now. */
const LOOKED = epochAt(NOW_MS) - 2;

const of = (subject: string, committed = 1, bypass = 0): Counter => ({
  ...{ key: counter(subject), committed, fitted: committed, settled: 0, rev: 1 },
  unchecked: { bypass, exempt: 0, unmetered: 0 },
});

/** A check after so many that failed. */
async function checked(failed: number, counters = [of('group/1')], countersMax = 10) {
  const read: number[] = [];
  const written: CounterSheet[] = [];
  let askedForCounters = 0;
  const before: CounterSheet = {
    ...{ sinceMs: 5, atMs: 5, epoch: LOOKED - 1 - failed, whole: true },
    counters: new Map([['group/9|money-month|2026-11', of('group/9')]]),
  };
  await keepCounterSheet(
    { counters, lastEpoch: LOOKED + 1 },
    {
      ...{ instance: INSTANCE, countersMax, clock: { nowMs: () => NOW_MS } },
      sheets: {
        read: async () => before,
        write: async (sheet) => {
          written.push(sheet);
          return 'written';
        },
      },
      log: {
        read: async (epoch) => {
          read.push(epoch);
          return { lines: [], odd: [counter(`group/${epoch}`)] };
        },
      },
      store: {
        readCounters: async (keys) => {
          askedForCounters += 1;
          return keys.map(() => undefined);
        },
      },
    },
  );
  return { read, askedForCounters, sheet: written[0] };
}

test('a check reads the epochs that failed ones left out, and nothing where none did', async () => {
  for (const failed of [-1, 0])
    expect(await checked(failed)).toMatchObject({ read: [], askedForCounters: 0 });
  expect(await checked(2)).toMatchObject({ read: [LOOKED - 2, LOOKED - 1], askedForCounters: 1 });
});

test('after a day without checks the sheet begins anew, and what lies between is not read', async () => {
  const { read, sheet } = await checked(96);
  expect(read).toHaveLength(96);
  expect(sheet).toMatchObject({ sinceMs: 5, whole: true });
  const lost = await checked(97);
  expect(lost.read).toEqual([]);
  expect(lost.sheet).toMatchObject({ sinceMs: NOW_MS, whole: false });
  expect([...(lost.sheet?.counters.keys() ?? [])]).toEqual(['group/1|money-month|2026-11']);
});

test('counters that a sheet has no room for make it begin anew, and as many as it has room for do not', async () => {
  const two = [of('group/1'), of('group/2')];
  expect((await checked(0, two, 3)).sheet).toMatchObject({ sinceMs: 5, whole: true });
  const { sheet } = await checked(0, two, 2);
  expect([sheet?.sinceMs, sheet?.whole, sheet?.counters.size]).toEqual([NOW_MS, false, 0]);
  expect(withCounters(new Map(), two, 2)?.size).toBe(2);
});

test('what nobody checked is on the sheet as well', async () => {
  const clock = { nowMs: () => NOW_MS, monotonicMs: () => 0, sleep: async () => {} };
  const deps = { table: new MemoryTable(), instance: INSTANCE, clock, random: () => 0 };
  const unchecked = { bypass: 1, exempt: 2, unmetered: 3 };
  const all = [of('group/1', 7), of('group/2', 7, 3), { ...of('group/3', 7), unchecked }];
  const sheet = { sinceMs: 1, atMs: 1, epoch: 1, whole: true };
  const sheets = () => dynamoCounterSheet(deps);
  await sheets().write({
    ...sheet,
    counters: new Map(all.map((each) => [counterName(each.key), each])),
  });
  expect([...((await sheets().read())?.counters.values() ?? [])]).toEqual(all);
});

test('a recount that began with the sheet, or later, makes it whole; one that began before does not', async () => {
  const written: CounterSheet[] = [];
  const sheet = { sinceMs: 5, atMs: 5, epoch: LOOKED, whole: false, counters: new Map() };
  const sheets = {
    read: async () => sheet,
    write: async (next: CounterSheet) => {
      written.push(next);
      return 'written' as const;
    },
  };
  await completeCounterSheet(4, { sheets });
  expect(written).toEqual([]);
  await completeCounterSheet(5, { sheets });
  expect(written).toMatchObject([{ whole: true }]);
});
