import { expect, test } from 'vitest';
import { createLedger } from '../../../../functions/core/ledger/create-ledger.ts';
import { findSuspects } from '../../../../functions/core/ledger/rebuild.ts';
import { recount } from '../../../../functions/core/ledger/recount.ts';
import type { Consistency, LedgerStore, StoredItem } from '../../../../functions/core/ledger/store.ts';
import type { CounterKey } from '../../../../policies/claim.ts';
import { anAsk, claim, counter } from '../../../support/ledger/asks.ts';
import { MemoryStore } from '../../../support/ledger/memory-store.ts';
import { manualClock } from '../../../support/ledger/test-clock.ts';

const ask = (jobId: number) => anAsk(jobId, [claim('group/1', 10, 1000)]);

/** The same table, whose scans yield something else. */
const scannedBy = (memory: MemoryStore, scan: LedgerStore['scan']): LedgerStore =>
  Object.create(memory, {
    scan: { value: scan },
    ...Object.fromEntries(
      (['transact', 'readCounters'] as const).map((name) => [name, { value: memory[name].bind(memory) }]),
    ),
  });

/** A table whose scans meet a write at chosen places: after so many items of the first and of the second scan. */
function movingTable(meanwhile: (scan: number, items: number) => Promise<unknown> | undefined) {
  const clock = manualClock();
  const memory = new MemoryStore({ instance: 'gitlab.example.com', clock });
  let scans = 0;
  const store = scannedBy(memory, async function* () {
    scans += 1;
    const scan = scans;
    let items = 0;
    for await (const item of memory.scan()) {
      yield item;
      items += 1;
      await meanwhile(scan, items);
    }
  });
  return { ledger: createLedger({ store: memory, clock }), scanned: createLedger({ store, clock }) };
}

test('a job settled between the reads of both passes is not taken for drift, even if both look alike', async () => {
  const table = movingTable((scan, items) => {
    // Items lie in the order of their first write: job 1, the counter, then jobs 2 and 3.
    // Pass one reads job 1 and then a counter from which it has been released.
    if (scan === 1 && items === 1) return table.ledger.release([{ jobId: 1, cause: 'canceled' }]);
    // Pass two reads the counter, then job 2 after it was re-held: the same difference at the same rev.
    if (scan === 2 && items === 2) return table.ledger.hold([ask(2)], 2_000);
    return undefined;
  });
  await table.ledger.hold([ask(1)], 2_000);
  await table.ledger.hold([ask(2)], 2_000);
  await table.ledger.release([{ jobId: 2, cause: 'canceled' }]);
  expect(await table.scanned.rebuild({ repair: true })).toMatchObject({ drift: [], repaired: 0 });
  expect(await table.ledger.readCounters([counter('group/1')])).toMatchObject([{ committed: 10 }]);
});

/** A table that shows eventually consistent scans only what `sees` lets through, every time. */
function laggingTable(sees: (item: StoredItem) => boolean) {
  const clock = manualClock();
  const memory = new MemoryStore({ instance: 'gitlab.example.com', clock });
  const scans: Consistency[] = [];
  const store = scannedBy(memory, async function* (consistency = 'consistent') {
    scans.push(consistency);
    for await (const item of memory.scan()) if (consistency === 'consistent' || sees(item)) yield item;
  });
  return { memory, scans, ledger: createLedger({ store, clock }) };
}

test('a counter that an eventually consistent scan shows as it was before its last write is no drift', async () => {
  const old: StoredItem[] = [];
  const { ledger, memory, scans } = laggingTable((item) => {
    // The same item, as it stood one write ago.
    if (item.kind === 'counter')
      Object.assign(
        item,
        old.find(({ kind }) => kind === 'counter'),
      );
    return true;
  });
  await ledger.hold([ask(1)], 2_000);
  for await (const item of memory.scan()) old.push(item);
  await ledger.hold([ask(2)], 2_000);
  expect(await ledger.rebuild({ repair: true })).toMatchObject({ drift: [], repaired: 0 });
  expect(scans).toEqual(['eventual', 'consistent']);
});

test('a repair never overwrites what was written since it was counted', async () => {
  const { memory, ledger } = laggingTable(() => true);
  await ledger.hold([ask(1)], 2_000);
  const amounts = { committed: 7, fitted: 0, settled: 0, unchecked: {} };
  await memory.transact([{ kind: 'counter', key: counter('group/1'), ...amounts }], {
    ...{ token: 'wrong', timeoutMs: 1000 },
  });
  const bound = (name: 'scan' | 'readCounters') => ({ value: memory[name].bind(memory) });
  const late: LedgerStore = Object.create(memory, {
    ...{ scan: bound('scan'), readCounters: bound('readCounters') },
    transact: {
      value: async (...args: Parameters<LedgerStore['transact']>) => {
        await ledger.hold([ask(2)], 2_000);
        return memory.transact(...args);
      },
    },
  });
  const repairing = createLedger({ clock: manualClock(), store: late });
  expect(await repairing.rebuild({ repair: true })).toMatchObject({ repaired: 0 });
  expect(await ledger.rebuild({ repair: true })).toMatchObject({ repaired: 1 });
  expect(await ledger.readCounters([counter('group/1')])).toMatchObject([{ committed: 20 }]);
});

test.each(['eventual', 'consistent'] as const)(
  'where the %s scan meets what a newer program wrote, nothing is drift or repaired, and it is counted',
  async (newerIn) => {
    const { memory, ledger } = laggingTable(() => true);
    await ledger.hold([ask(1), ask(2)], 2_000);
    const scanned = scannedBy(memory, async function* (consistency = 'consistent') {
      for await (const item of memory.scan()) {
        // Job 2's record, in a form that this version cannot read; its charge looks like drift where it is not counted.
        const isOfTwo = item.kind === 'record' && item.record.jobId === 2;
        if (isOfTwo && consistency === newerIn) yield { kind: 'unknown', sk: 'record' };
        else if (!isOfTwo) yield item;
      }
    });
    const report = await createLedger({ store: scanned, clock: manualClock() }).rebuild({
      repair: true,
    });
    expect(report).toMatchObject({ drift: [], repaired: 0, passedOver: 1 });
    expect(await ledger.readCounters([counter('group/1')])).toMatchObject([{ committed: 20 }]);
  },
);

const AMOUNTS = { committed: 5, fitted: 5, settled: 5, unchecked: { exempt: 0, unmetered: 0, bypass: 0 } };
const NEWER: StoredItem = { kind: 'unknown', sk: 'record' };
const standing = (key: CounterKey): StoredItem => ({ kind: 'counter', counter: { key, ...AMOUNTS, rev: 1 } });
const MONTH = counter('group/1', 'money-month', '2026-01');
const CLOSED: StoredItem = {
  kind: 'closing',
  closing: { key: MONTH, ...AMOUNTS, committed: 3, closedAtMs: Date.UTC(2026, 2, 20) },
};
/** One job, and no counter that counts it. */
const LOST = {
  kind: 'entry',
  entry: {
    ...{ jobId: 1, number: 1, generation: 1, cause: 'duration', atMs: Date.UTC(2026, 0, 5) },
    deltas: [{ counter: MONTH, unit: 'micros', delta: 4, fitted: true, checked: true }],
  },
} satisfies StoredItem;
const WINDOW = counter('group/1', 'money-day', '2026-01-10');
const USER = counter('user/5', 'money-month', '2026-01');
const PIPELINE = counter('pipeline/7', 'grace', 'once');
/** Records of January may be gone from 22 April on. */
const [EARLY_MS, LATE_MS] = [Date.UTC(2026, 1, 5), Date.UTC(2026, 6, 1)];

test.each<[string, readonly StoredItem[], number, 'suspect' | 'unproven' | 'neither']>([
  ['a month whose records are there', [standing(MONTH)], EARLY_MS, 'suspect'],
  ['a month whose records may be gone', [standing(MONTH)], LATE_MS, 'unproven'],
  ['a closed month whose records may be gone', [standing(MONTH), CLOSED], LATE_MS, 'suspect'],
  ['a month without its counter', [LOST], EARLY_MS, 'suspect'],
  ['a month without its counter, whose records may be gone', [LOST], LATE_MS, 'neither'],
  ['a month without its counter, next to an item of a newer program', [LOST, NEWER], EARLY_MS, 'neither'],
  ['a month next to an item of a newer program', [standing(MONTH), NEWER], EARLY_MS, 'unproven'],
  ['a day whose records are there', [standing(WINDOW)], EARLY_MS, 'suspect'],
  ['a day whose records may be gone', [standing(WINDOW)], LATE_MS, 'neither'],
  ['a day next to an item of a newer program', [standing(WINDOW), NEWER], LATE_MS, 'unproven'],
  ['a user whose records are there', [standing(USER)], EARLY_MS, 'suspect'],
  ['a user whose records may be gone', [standing(USER)], LATE_MS, 'neither'],
  ['a pipeline', [standing(PIPELINE)], EARLY_MS, 'neither'],
  ['a pipeline next to an item of a newer program', [standing(PIPELINE), NEWER], EARLY_MS, 'neither'],
])('%s that differs from its records: %#', async (_, items, nowMs, expected) => {
  const { suspects, unproven } = findSuspects(await recount(items), nowMs);
  const found = { suspect: suspects.length, unproven: unproven.length };
  expect(found).toEqual({
    suspect: expected === 'suspect' ? 1 : 0,
    unproven: expected === 'unproven' ? 1 : 0,
  });
});
