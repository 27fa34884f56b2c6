/** The recount in rounds: how fast it reads, and what two rounds find, killed at any call, with any number of segments. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createLedger } from '../../../../functions/core/ledger/create-ledger.ts';
import type { RebuildReport } from '../../../../functions/core/ledger/ledger.ts';
import { createClosing } from '../../../../functions/core/ledger/rebuild.ts';
import {
  dynamoRecountRounds,
  type RecordVisit,
  type RecountRound,
  recountOn,
  segmentsDue,
} from '../../../../functions/core/ledger/recount-round.ts';
import type { SegmentPage, StoredItem } from '../../../../functions/core/ledger/store.ts';
import { MemoryTable } from '../../../../functions/core/store/memory-table.ts';
import { type CounterKey, counterName } from '../../../../policies/claim.ts';
import { withoutAbsent } from '../../../../policies/without-absent.ts';
import { anAsk, claim, counter } from '../../../support/ledger/asks.ts';
import { MemoryStore } from '../../../support/ledger/memory-store.ts';
import { manualClock } from '../../../support/ledger/test-clock.ts';
import { propertyRuns } from '../../../support/property-runs.ts';

const INSTANCE = 'gitlab.example.com';
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const GROUPS = 12;
const FOREVER = Number.POSITIVE_INFINITY;

type Found = Omit<RebuildReport, 'repaired'>;
type Over = { readonly found: Found; readonly round: Omit<RecountRound, 'sums'> };

interface RunOptions {
  /** @default a minute */
  readonly runMs?: number;
  readonly segments?: number;
  readonly keepEveryMs?: number;
  readonly visit?: RecordVisit;
  /** Asked before and after each call of the table: it dies there. */
  readonly dies?: () => boolean;
  /** May show another page, or let time pass. */
  readonly onPage?: (page: SegmentPage) => SegmentPage | undefined | Promise<SegmentPage | undefined>;
}

/** Months of jobs with corrections and closings, and counters of groups that were changed by hand. Each page is one item. */
async function recounting(wrong: readonly number[] = []) {
  const clock = manualClock();
  const store = new MemoryStore({ instance: INSTANCE, clock });
  const ledger = createLedger({ store, clock, random: () => 0 });
  let jobId = 0;
  for (const month of ['2026-09', '2026-10', '2026-11']) {
    for (let group = 1; group <= GROUPS; group += 1) {
      jobId += 1;
      const own = counter(`group/${group}`, 'money-month', month);
      const all = counter('instance', 'money-month', month);
      const claims = [own, all].map((key) => claim(key.subject, 100, 1_000_000, { counter: key }));
      await ledger.hold([anAsk(jobId, claims)], FOREVER);
      const settle = (durationSeconds: number) =>
        ledger.settle([{ jobId, durationSeconds, endedAtMs: clock.nowMs() + durationSeconds }]);
      if (group % 3 !== 0) await settle(60);
      if (group % 4 === 0) await settle(90);
    }
  }
  clock.advance(20 * DAY_MS);
  await createClosing({ store, clock, random: () => 0 })(clock.monotonicMs() + 60_000);
  // A correction after the closing.
  clock.advance(HOUR_MS);
  await ledger.settle([{ jobId: 1, durationSeconds: 70, endedAtMs: clock.nowMs() }]);
  for (const group of wrong) {
    const amounts = { committed: 5, fitted: 0, settled: 0, unchecked: {} };
    const options = { token: `by hand ${group}`, timeoutMs: 1000 };
    await store.transact([{ kind: 'counter', key: counter(`group/${group}`), ...amounts }], options);
  }

  const table = new MemoryTable();
  let tokens = 0;
  /** A run of a process of its own. */
  const run = async (asked: RunOptions = {}) => {
    const { runMs = 60_000, dies = () => false, onPage, visit = aVisit({}), ...options } = asked;
    const orDie = (): void => {
      if (dies()) throw new Error('killed');
    };
    let pages = 0;
    let over: Over | undefined;
    const dying = new Proxy(store, {
      get(target, name: keyof MemoryStore) {
        const own = target[name];
        if (typeof own !== 'function') return own;
        return async (...args: unknown[]) => {
          orDie();
          const answer = await (own as (...asked: unknown[]) => unknown).apply(target, args);
          orDie();
          if (name !== 'scanSegment') return answer;
          pages += 1;
          return (await onPage?.(answer as SegmentPage)) ?? answer;
        };
      },
    });
    const kept = dynamoRecountRounds({ table, instance: INSTANCE, nowMs: clock.nowMs });
    const outcome = await recountOn(clock.monotonicMs() + runMs, {
      ...{ store: dying, clock, random: () => 0, segments: 3, visit, ...options },
      newToken: () => {
        tokens += 1;
        return `token ${tokens}`;
      },
      rounds: {
        read: () => kept.read(),
        async write(round) {
          orDie();
          await kept.write(round);
          orDie();
        },
      },
      onOver: async (found, round) => {
        over = { found, round };
      },
    });
    return { outcome, pages, ...over };
  };
  /** Runs until a round is over, a day later than the one before. */
  const round = async (options: RunOptions = {}): Promise<Over> => {
    clock.advance(DAY_MS);
    for (let runs = 1; runs < 20_000; runs += 1) {
      try {
        const { found, round } = await run(options);
        if (found !== undefined && round !== undefined) return { found, round };
      } catch (error) {
        if (!(error instanceof Error) || error.message !== 'killed') throw error;
      }
    }
    throw new Error('it never ends');
  };
  const rounds = async (count: number, options: RunOptions = {}): Promise<Found> => {
    for (let each = 1; each < count; each += 1) await round(options);
    return (await round(options)).found;
  };
  const read = async (group: number) => (await ledger.readCounters([counter(`group/${group}`)]))[0];
  return { clock, ledger, run, round, rounds, read };
}

const aVisit = (visit: Partial<RecordVisit>): RecordVisit => ({
  ...{ see: () => {}, seeCounter: () => {}, isFull: () => false, work: async () => undefined },
  ...visit,
});

const sorted = ({ drift, unproven, ...rest }: Found) => {
  const byName = (a: { key: CounterKey }, b: { key: CounterKey }): number =>
    counterName(a.key) < counterName(b.key) ? -1 : 1;
  return { ...rest, drift: drift.toSorted(byName), unproven: unproven.toSorted(byName) };
};

const groupsOf = ({ drift }: Found): readonly string[] => drift.map(({ key }) => key.subject).sort();

/** What `tollgate rebuild` finds. */
async function rebuilt(wrong: readonly number[]): Promise<ReturnType<typeof sorted>> {
  const { clock, ledger } = await recounting(wrong);
  clock.advance(2 * DAY_MS);
  const { repaired: _, ...found } = await ledger.rebuild({ repair: false });
  return sorted(found);
}

test('a round takes a day for each million records, a week at most; the first one of a table does not wait', () => {
  const segments = Array.from({ length: 168 }, () => ({ done: false }));
  const due = (lastRecords: number | undefined, hours: number): number =>
    segmentsDue({ startedAtMs: 0, segments, ...withoutAbsent({ lastRecords }) }, hours * HOUR_MS);
  for (const records of [0, 1_000_000])
    expect([0, 1, 12, 24, 30].map((hours) => due(records, hours))).toEqual([0, 7, 84, 168, 168]);
  expect([1, 24, 48].map((hours) => due(2_000_000, hours))).toEqual([4, 84, 168]);
  for (const records of [7_000_000, 1_000_000_000])
    expect([0, 1, 84, 168].map((hours) => due(records, hours))).toEqual([0, 1, 84, 168]);
  expect(due(undefined, 0)).toBe(168);
});

test('two rounds find what a rebuild finds, and each shows every record and every counter once', async () => {
  for (const wrong of [[], [2, 5]]) {
    const { round } = await recounting(wrong);
    for (const expected of [[], wrong]) {
      const records: number[] = [];
      const counters: string[] = [];
      const { found, round: read } = await round({
        visit: aVisit({
          see: ({ jobId }) => records.push(jobId),
          seeCounter: ({ key }) => counters.push(counterName(key)),
          work: async () => ({ jobs: 1, mended: 0, failed: 0 }),
        }),
      });
      expect(groupsOf(found)).toEqual(expected.map((group) => `group/${group}`));
      if (expected === wrong) expect(sorted(found)).toEqual(await rebuilt(wrong));
      expect(records.sort((a, b) => a - b)).toEqual(Array.from({ length: 3 * GROUPS }, (_, at) => at + 1));
      expect([counters.length, new Set(counters).size]).toEqual([found.counters, found.counters]);
      expect(read.usage?.jobs).toBeGreaterThan(0);
    }
  }
});

test('killed at any call and gone on with, two rounds find the same and mark the same', async () => {
  const expected = await rebuilt([3]);
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.integer({ min: 1, max: 120 }), { minLength: 1, maxLength: 6 }),
      fc.integer({ min: 1, max: 5 }),
      async (callsOfLife, segments) => {
        const { rounds, read } = await recounting([3]);
        const left = [...callsOfLife];
        let calls = 0;
        const dies = (): boolean => {
          calls += 1;
          if (left[0] === undefined || calls < left[0]) return false;
          left.shift();
          calls = 0;
          return true;
        };
        // Written down after each page.
        const found = await rounds(2, { segments, dies, keepEveryMs: 0 });
        expect(sorted(found)).toEqual(expected);
        expect(await read(3)).toMatchObject({ drifts: true });
      },
    ),
    { numRuns: propertyRuns(25) },
  );
});

test('a counter that is written between two rounds, or while one of them reads, is not taken for drift', async () => {
  const { ledger, round, rounds } = await recounting([2]);
  const job = (jobId: number) => ledger.hold([anAsk(jobId, [claim('group/2', 1, 1_000_000)])], FOREVER);
  await round();
  await job(9_000);
  expect(groupsOf((await round()).found)).toEqual([]);
  let pages = 0;
  const onPage = async () => {
    pages += 1;
    if (pages === 20) await job(9_001);
    return undefined;
  };
  expect(groupsOf((await round({ onPage })).found)).toEqual([]);
  // Then it stands still.
  expect(groupsOf(await rounds(2))).toEqual(['group/2']);
});

test('a counter that drifts is reported by every round, also while jobs write it, until it is repaired', async () => {
  const { ledger, round, rounds, read } = await recounting([2]);
  await rounds(2);
  for (const jobId of [9_000, 9_001]) {
    expect(await read(2)).toMatchObject({ drifts: true });
    await ledger.hold([anAsk(jobId, [claim('group/2', 1, 1_000_000)])], FOREVER);
    expect(groupsOf((await round()).found)).toEqual(['group/2']);
  }
  await ledger.rebuild({ repair: true });
  expect(groupsOf((await round()).found)).toEqual([]);
  expect(await read(2)).not.toHaveProperty('drifts');
});

test('a round that meets an item nobody can read proves nothing and marks nothing', async () => {
  const { rounds, read } = await recounting([2]);
  const isRecord = (item: StoredItem): boolean => item.kind === 'record' && item.record.jobId === 2;
  const found = await rounds(3, {
    onPage: (page) =>
      page.items.some(isRecord) ? { ...page, items: [{ kind: 'unknown', sk: 'record' }] } : undefined,
  });
  expect(found).toMatchObject({ drift: [], passedOver: 1 });
  expect(await read(2)).not.toHaveProperty('drifts');
});

test('no page is read after the deadline of a run, and progress is written down every three minutes', async () => {
  const { clock, run } = await recounting();
  expect(await run({ runMs: 0 })).toMatchObject({ outcome: 'under way', pages: 0 });
  const pagesOf: number[] = [];
  let pages = 0;
  const options = {
    ...{ segments: 1, runMs: 10 * 60_000 },
    visit: aVisit({
      async work() {
        pagesOf.push(pages);
        pages = 0;
        return undefined;
      },
    }),
    onPage: () => {
      pages += 1;
      clock.advance(60_000);
      return undefined;
    },
  };
  expect((await run(options)).outcome).toBe('under way');
  expect(pagesOf).toEqual([3, 3, 3, 1]);
});
