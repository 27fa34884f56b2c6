/** Copies of all counters: as the counters are themselves, but for what moved in the last minutes, whatever fails meanwhile. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  type CounterSheet,
  type CounterSheetStore,
  dynamoCounterSheet,
  withCounters,
} from '../../../../functions/core/books/counter-sheet.ts';
import {
  addToCounterSheet,
  completeCounterSheet,
  keepCounterSheet,
} from '../../../../functions/core/books/keep-counter-sheet.ts';
import { DynamoStore } from '../../../../functions/core/ledger/dynamo-store.ts';
import type { Counter } from '../../../../functions/core/ledger/ledger.ts';
import { EPOCH_MS, isSummed } from '../../../../functions/core/ledger/slots.ts';
import { getItem } from '../../../../functions/core/store/calls.ts';
import { TimeLimit } from '../../../../functions/core/store/operation.ts';
import { counterName } from '../../../../policies/claim.ts';
import { keys } from '../../../support/ledger/rollup-bench.ts';
import { propertyRuns } from '../../../support/property-runs.ts';
import { books } from './books-house.ts';

/** The books with a sheet that each check keeps, unless it fails. */
function house(countersMax?: number) {
  let fails = false;
  const found = books(async (report) => {
    if (!fails)
      await keepCounterSheet(report, {
        ...{ ...found.deps, sheets: sheets(), log: found.log, store },
        ...(countersMax !== undefined && { countersMax }),
      });
  });
  const store = new DynamoStore(found.deps);
  // Each run of a program begins with nothing known, and an item holds little.
  const sheets = () => dynamoCounterSheet({ ...found.deps, partBytes: 200 });
  const counters = async (): Promise<readonly Counter[]> => {
    const all: Counter[] = [];
    for await (const item of store.scan()) if (item.kind === 'counter') all.push(item.counter);
    return all;
  };
  const recount = async (): Promise<void> => {
    const startedAtMs = found.clock.nowMs();
    // As the recount meets them, some at a time.
    for (const met of await counters()) {
      const { clock } = found;
      clock.advance(1);
      await addToCounterSheet([met], {
        ...{ sheets: sheets(), clock },
        ...(countersMax !== undefined && { countersMax }),
      });
    }
    await completeCounterSheet(startedAtMs, { sheets: sheets() });
  };
  const fail = (now: boolean): void => {
    fails = now;
  };
  return { ...found, sheets, counters, recount, fail };
}

const amounts = (counters: Iterable<Counter>) =>
  [...counters]
    .filter(({ key }) => isSummed(key))
    .map(({ key, committed, settled, fitted, unchecked, rev }) =>
      JSON.stringify([counterName(key), committed, settled, fitted, unchecked, rev]),
    )
    .sort();

const WAIT_MS = 300_000;
const QUIET_MS = 3 * EPOCH_MS;

test('after a recount the sheet has every counter, and each check brings those that moved', async () => {
  const { run, deliverAll, pass, sheets, counters, recount } = house();
  await run(1, 4);
  await deliverAll();
  expect(await sheets().read()).toBeUndefined();
  await pass(QUIET_MS);
  expect(await sheets().read()).toMatchObject({ whole: false });
  await recount();
  for (const group of [1, 2, 3]) {
    await run(group, 3);
    await deliverAll();
    await pass(QUIET_MS);
    const sheet = await sheets().read();
    expect(sheet?.whole).toBe(true);
    expect(amounts(sheet?.counters.values() ?? [])).toEqual(amounts(await counters()));
  }
});

test('it says since when it stands: jobs after that instant are not in it', async () => {
  const { run, deliverAll, pass, sheets, recount, clock } = house();
  await pass(QUIET_MS);
  await recount();
  await run(1, 2);
  await deliverAll();
  const sheet = await sheets().read();
  expect(sheet?.counters.size).toBe(0);
  expect(sheet?.atMs).toBeLessThanOrEqual(clock.nowMs());
  await pass(QUIET_MS);
  const later = await sheets().read();
  expect(later?.counters.size).toBeGreaterThan(0);
  expect(clock.nowMs() - (later?.atMs ?? 0)).toBeLessThan(2 * EPOCH_MS);
});

test('checks that fail for hours are made up for by the next one; after more than a day a recount has to', async () => {
  const { run, deliverAll, pass, sheets, counters, recount, fail } = house();
  await pass(QUIET_MS);
  await recount();
  for (const { hours, whole } of [
    { hours: 5, whole: true },
    { hours: 30, whole: false },
  ]) {
    fail(true);
    await run(1, 2);
    await deliverAll();
    await pass(hours * 3_600_000);
    fail(false);
    await pass(QUIET_MS);
    const sheet = await sheets().read();
    expect(sheet?.whole).toBe(whole);
    if (whole) expect(amounts(sheet?.counters.values() ?? [])).toEqual(amounts(await counters()));
  }
  await recount();
  expect((await sheets().read())?.whole).toBe(true);
});

test('a recount that began before the sheet does not make it whole', async () => {
  const { pass, sheets, clock } = house();
  const startedAtMs = clock.nowMs();
  await pass(QUIET_MS);
  await completeCounterSheet(startedAtMs, { sheets: sheets() });
  expect((await sheets().read())?.whole).toBe(false);
});

test('a sheet that has no room for all counters is not whole, and says so of none of them', async () => {
  const { run, deliverAll, pass, sheets, recount } = house(3);
  await pass(QUIET_MS);
  for (const group of [1, 2, 3, 4, 5]) await run(group, 2);
  await recount();
  expect((await sheets().read())?.whole).toBe(false);
  await deliverAll();
  await pass(QUIET_MS);
  await recount();
  expect((await sheets().read())?.whole).toBe(false);
});

test('what a recount met and could not write down stops it', async () => {
  const { run, pass, sheets, clock, counters } = house();
  await run(1, 2);
  await pass(QUIET_MS);
  const one = sheets();
  const overtaken: CounterSheetStore = {
    read: async () => {
      const sheet = await one.read();
      if (sheet !== undefined) await sheetsOfAnother(sheets(), sheet);
      return sheet;
    },
    write: (sheet) => one.write(sheet),
  };
  await expect(addToCounterSheet(await counters(), { sheets: overtaken, clock })).rejects.toThrow(
    expect.objectContaining({ code: 'ledger_unavailable' }),
  );
});

async function sheetsOfAnother(other: CounterSheetStore, sheet: CounterSheet): Promise<void> {
  await other.read();
  expect(await other.write({ ...sheet, counters: new Map() })).toBe('written');
}

test('of two that write at once one is overtaken, and what stands is whole', async () => {
  const { run, deliverAll, pass, sheets } = house();
  await run(1, 3);
  await deliverAll();
  await pass(QUIET_MS);
  const [one, other] = [sheets(), sheets()];
  const [mine, theirs] = [await one.read(), await other.read()];
  const without = (sheet: CounterSheet | undefined, left: number): CounterSheet => ({
    ...(sheet ?? { sinceMs: 0, atMs: 0, epoch: 0, whole: false }),
    counters: new Map([...(sheet?.counters ?? [])].slice(left)),
  });
  expect(await one.write(without(mine, 1))).toBe('written');
  expect(await other.write(without(theirs, 2))).toBe('overtaken');
  // The loser wrote over the winner’s parts: nobody takes them for the winner’s.
  expect(await sheets().read()).toBeUndefined();
});

test('what stands still is not written again', async () => {
  const { run, deliverAll, pass, table, sheets } = house();
  await run(1, 3);
  await deliverAll();
  await pass(QUIET_MS);
  const parts = () =>
    Promise.all([0, 1].map((turn) => getItem(table, keys.counterSheetPart(turn, 0), new TimeLimit(WAIT_MS))));
  const partsBefore = await parts();
  const before = await sheets().read();
  await pass(4 * EPOCH_MS);
  const after = await sheets().read();
  expect(after?.atMs).toBeGreaterThan(before?.atMs ?? 0);
  expect(amounts(after?.counters.values() ?? [])).toEqual(amounts(before?.counters.values() ?? []));
  expect(await parts()).toEqual(partsBefore);
});

test('of a limit the last two periods are kept, and of two copies the later one', () => {
  const of = (period: string, rev: number): Counter => ({
    ...{ key: { subject: 'group/1', limit: 'money-month', period }, rev },
    ...{ committed: rev, fitted: rev, settled: 0, unchecked: { exempt: 0, unmetered: 0, bypass: 0 } },
  });
  const first = withCounters(new Map(), [of('2026-09', 1), of('2026-10', 5), of('2026-11', 2)]);
  const second = withCounters(first ?? new Map(), [of('2026-10', 4), of('2026-11', 3)]);
  expect([...(second?.values() ?? [])].map(({ key, rev }) => [key.period, rev])).toEqual([
    ['2026-10', 5],
    ['2026-11', 3],
  ]);
});

test('whatever jobs and failures come, a whole sheet is what the counters are', async () => {
  const step = fc.oneof(
    fc.record({ run: fc.integer({ min: 1, max: 3 }), jobs: fc.integer({ min: 1, max: 4 }) }),
    fc.record({ passMinutes: fc.integer({ min: 1, max: 200 }) }),
    fc.record({ fails: fc.boolean() }),
    fc.constant({ recount: true }),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 20 }), async (steps) => {
      const { run, deliverAll, pass, sheets, counters, recount, fail } = house();
      for (const each of steps) {
        if ('run' in each) await run(each.run, each.jobs);
        else if ('passMinutes' in each) await pass(each.passMinutes * 60_000);
        else if ('fails' in each) fail(each.fails);
        else await recount();
        await deliverAll();
      }
      fail(false);
      await pass(QUIET_MS);
      const sheet = await sheets().read();
      if (sheet?.whole === true) expect(amounts(sheet.counters.values())).toEqual(amounts(await counters()));
    }),
    { numRuns: propertyRuns(60) },
  );
});
