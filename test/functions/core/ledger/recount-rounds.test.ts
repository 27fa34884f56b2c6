/** A recount round by round: when one ends, what it shows to whoever looks along, and what it makes of a counter. */
import { expect, test } from 'vitest';
import { createLedger } from '../../../../functions/core/ledger/create-ledger.ts';
import type { Counter } from '../../../../functions/core/ledger/ledger.ts';
import { MemoryStore } from '../../../../functions/core/ledger/memory-store.ts';
import {
  type RecordVisit,
  type RecountPass,
  recountOn,
} from '../../../../functions/core/ledger/recount-pass.ts';
import type { SegmentAsk, SegmentPage, StoredItem } from '../../../../functions/core/ledger/store.ts';
import { anAsk, claim, counter } from '../../../support/ledger/asks.ts';
import { manualClock } from '../../../support/ledger/test-clock.ts';

const DAY_MS = 86_400_000;
const FOREVER = Number.POSITIVE_INFINITY;
const JOBS = 6;
const GROUPS = 4;
/** Each is a page. */
const ITEMS = JOBS + GROUPS;

interface RunOptions {
  readonly deadlineMs?: number;
  readonly roundMs?: number;
  readonly countersMax?: number;
  readonly visit?: RecordVisit;
  /** May show another page, or let time pass. */
  readonly onPage?: (page: SegmentPage, ask: SegmentAsk) => SegmentPage | undefined;
}

/** Held jobs of some groups, in a table that is read as one segment, item by item. */
async function aHouse() {
  const clock = manualClock();
  const store = new MemoryStore({ instance: 'gitlab.example.com', clock });
  const ledger = createLedger({ store, clock, random: () => 0 });
  const groupCounter = (group: number) => counter(`group/${group}`);
  for (let jobId = 1; jobId <= JOBS; jobId += 1) {
    const key = groupCounter(1 + (jobId % GROUPS));
    await ledger.hold([anAsk(jobId, [claim(key.subject, 10, 1_000, { counter: key })])], FOREVER);
  }
  const writeByHand = (key: Counter['key'], committed: number) =>
    store.transact([{ kind: 'counter', key, unchecked: {}, ...{ committed, fitted: 0, settled: 0 } }], {
      ...{ token: `by hand ${key.subject}`, timeoutMs: 1_000 },
    });
  let kept: RecountPass | undefined;
  const run = async ({ deadlineMs = FOREVER, onPage, ...options }: RunOptions = {}) => {
    const pages: SegmentAsk[] = [];
    const found: RecountPass[] = [];
    const read = Object.create(store, {
      ...Object.fromEntries(
        (['transact', 'readCounters'] as const).map((name) => [name, { value: store[name].bind(store) }]),
      ),
      scanSegment: {
        async value(ask: SegmentAsk) {
          pages.push(ask);
          const page = await store.scanSegment(ask);
          return onPage?.(page, ask) ?? page;
        },
      },
    }) as MemoryStore;
    const outcome = await recountOn(deadlineMs, {
      ...{ store: read, clock, random: () => 0, newToken: () => String(Math.random()), segments: 1 },
      ...options,
      passes: {
        read: async () => kept,
        write: async (pass) => {
          kept = structuredClone(pass);
        },
      },
      isDue: () => true,
      onOver: async (_, pass) => {
        found.push(pass);
      },
    });
    return { outcome, pages, pass: found[0], found: found[0]?.found };
  };
  return { clock, store, ledger, run, groupCounter, writeByHand };
}

const aVisit = (visit: Partial<RecordVisit>): RecordVisit => ({
  ...{ see: () => {}, isFull: () => false, work: async () => undefined },
  ...visit,
});

/** A page without the items that are hidden. */
const pageOf = ({ items, ...page }: SegmentPage, shows: (item: StoredItem) => boolean): SegmentPage => ({
  ...page,
  items: items.filter(shows),
});

const isRecordOf = (item: StoredItem, jobId: number): boolean =>
  item.kind === 'record' && item.record.jobId === jobId;

test('at its deadline no round begins', async () => {
  const { clock, run } = await aHouse();
  expect(await run({ deadlineMs: clock.monotonicMs() })).toMatchObject({ outcome: 'under way', pages: [] });
});

test.each([
  ['its time is over', 100, 1_000, [2, 2, 2, 2, 2]],
  ['the run has to end', 1_000, 150, [3]],
] as const)('a round reads no page once %s', async (_, roundMs, runMs, pagesOfRounds) => {
  const { clock, run } = await aHouse();
  const rounds: number[] = [];
  let pages = 0;
  const visit = aVisit({
    async work() {
      rounds.push(pages);
      pages = 0;
      return undefined;
    },
  });
  const onPage = () => {
    pages += 1;
    clock.advance(50);
    return undefined;
  };
  await run({ deadlineMs: clock.monotonicMs() + runMs, roundMs, visit, onPage });
  expect(rounds).toEqual(pagesOfRounds);
});

test('a round ends when whoever looks along has enough, and the next one goes on', async () => {
  const { run } = await aHouse();
  const rounds: number[][] = [];
  let seen: number[] = [];
  const { outcome } = await run({
    visit: aVisit({
      see: ({ jobId }) => seen.push(jobId),
      isFull: () => seen.length >= 2,
      async work() {
        rounds.push(seen);
        seen = [];
        return undefined;
      },
    }),
  });
  expect(outcome).toBe('over');
  expect(rounds.flat().sort()).toEqual([1, 2, 3, 4, 5, 6]);
  expect(rounds.filter(({ length }) => length > 0).map(({ length }) => length)).toEqual([2, 2, 2]);
});

test('whoever looks along is shown each record and each counter once, and nothing else', async () => {
  const { run } = await aHouse();
  const records: unknown[] = [];
  const counters: unknown[] = [];
  await run({
    visit: aVisit({
      see: (record) => records.push(record.jobId),
      seeCounter: (one) => counters.push(one.key.subject),
    }),
  });
  expect(records.sort()).toEqual([1, 2, 3, 4, 5, 6]);
  expect(counters.sort()).toEqual(['group/1', 'group/2', 'group/3', 'group/4']);
});

test('as many counters as there is room for are counted at once; one more, and half of them waits', async () => {
  const { run } = await aHouse();
  const visit = () => {
    let jobs = 0;
    return aVisit({
      see: () => {
        jobs += 1;
      },
      work: async () => {
        const look = { jobs, mended: 0, failed: 0 };
        jobs = 0;
        return look.jobs === 0 ? undefined : look;
      },
    });
  };
  const whole = await run({ countersMax: GROUPS, visit: visit() });
  expect(whole.pages).toHaveLength(ITEMS);
  const inShares = await run({ countersMax: GROUPS - 1, visit: visit() });
  expect(inShares.pages.length).toBeGreaterThan(ITEMS);
  // What was found of usage by the first share is still there after the others.
  for (const { pass } of [whole, inShares]) {
    expect(pass?.usage).toEqual({ jobs: JOBS, mended: 0, failed: 0 });
    expect(pass?.found).toMatchObject({ records: JOBS, counters: GROUPS, drift: [] });
  }
  const unvisited = await run({ countersMax: GROUPS - 1 });
  expect(unvisited.pass).not.toHaveProperty('usage');
});

test('a record that the first pass was not shown yet is no drift: the second one decides', async () => {
  const { run } = await aHouse();
  const { found, pages } = await run({
    onPage: (page, { consistency }) =>
      pageOf(page, (item) => consistency === 'consistent' || !isRecordOf(item, 2)),
  });
  expect(pages).toHaveLength(2 * ITEMS);
  expect(found).toMatchObject({ drift: [], passedOver: 0 });
});

test('a counter that ought to be closed is put in line again, unless it differs: then it is drift', async () => {
  const { clock, store, ledger, run, groupCounter, writeByHand } = await aHouse();
  const rev = async (group: number) =>
    (await store.readCounters([groupCounter(group)], { timeoutMs: 1_000 }))[0]?.rev ?? 0;
  // Every job of the period has ended, and nobody closed it.
  clock.advance(60 * DAY_MS);
  await writeByHand(groupCounter(2), 5);
  const before = await rev(1);
  const { found } = await run();
  expect(found).toMatchObject({ unclosed: GROUPS, drift: [{ key: groupCounter(2) }] });
  expect(await rev(1)).toBeGreaterThan(before);
  expect(await ledger.readCounters([groupCounter(1), groupCounter(2)])).toMatchObject([{}, { drifts: true }]);
});

test.each(['eventual', 'consistent'] as const)(
  'where the %s pass meets what nobody can read, nothing is drift or marked, and it is counted',
  async (unreadIn) => {
    const { clock, store, run, groupCounter, writeByHand } = await aHouse();
    clock.advance(60 * DAY_MS);
    await writeByHand(groupCounter(2), 5);
    const rev = async () =>
      (await store.readCounters([groupCounter(2)], { timeoutMs: 1_000 })).map((one) => one?.rev);
    const before = await rev();
    const { found } = await run({
      onPage: (page, { consistency }) =>
        consistency === unreadIn && page.items.some((item) => isRecordOf(item, 2))
          ? { ...page, items: [{ kind: 'unknown', sk: 'record' }] }
          : undefined,
    });
    expect(found).toMatchObject({ drift: [], passedOver: 1 });
    expect(await rev()).toEqual(before);
  },
);
