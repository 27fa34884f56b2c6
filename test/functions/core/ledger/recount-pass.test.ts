/** A recount in runs: killed at any call, however many counters and segments, it finds what one undisturbed recount finds. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createClosing } from '../../../../functions/core/ledger/close-periods.ts';
import { createLedger } from '../../../../functions/core/ledger/create-ledger.ts';
import { dynamoRecountPasses } from '../../../../functions/core/ledger/kept-pass.ts';
import type { JobRecord, RebuildReport } from '../../../../functions/core/ledger/ledger.ts';
import { MemoryStore } from '../../../../functions/core/ledger/memory-store.ts';
import {
  type RecountPassStore,
  recountOn,
  type UsageLook,
} from '../../../../functions/core/ledger/recount-pass.ts';
import type { SegmentAsk } from '../../../../functions/core/ledger/store.ts';
import { MemoryTable } from '../../../../functions/core/store/memory-table.ts';
import { counterName } from '../../../../policies/claim.ts';
import { anAsk, claim, counter } from '../../../support/ledger/asks.ts';
import { manualClock } from '../../../support/ledger/test-clock.ts';
import { propertyRuns } from '../../../support/property-runs.ts';

const INSTANCE = 'gitlab.example.com';
const DAY_MS = 86_400_000;
const GROUPS = 12;
const FOREVER = Number.POSITIVE_INFINITY;

type Found = Omit<RebuildReport, 'repaired'>;

/** Books of some months with corrections, closings, and counters that somebody changed by hand. */
async function books(wrong: readonly number[]) {
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
      const end = { jobId, durationSeconds: 60, endedAtMs: clock.nowMs() };
      if (group % 3 !== 0) await ledger.settle([end]);
      if (group % 4 === 0)
        await ledger.settle([{ ...end, durationSeconds: 90, endedAtMs: clock.nowMs() + 1 }]);
    }
  }
  clock.advance(20 * DAY_MS);
  await createClosing({ store, clock, random: () => 0 })(clock.monotonicMs() + 60_000);
  // A correction after the closing.
  clock.advance(3_600_000);
  await ledger.settle([{ jobId: 1, durationSeconds: 70, endedAtMs: clock.nowMs() }]);
  for (const group of wrong) await byHand(store, group);
  return { clock, store, ledger };
}

const byHand = (store: MemoryStore, group: number) =>
  store.transact(
    [
      {
        ...{ kind: 'counter', key: counter(`group/${group}`), unchecked: {} },
        ...{ committed: 5, fitted: 0, settled: 0 },
      },
    ],
    { token: `by hand ${group} ${Math.random()}`, timeoutMs: 1000 },
  );

interface RecountOptions {
  readonly segments?: number;
  readonly countersMax?: number;
  /** Asked before each call of the table: it dies there. */
  readonly dies?: () => boolean;
  readonly onPage?: (ask: SegmentAsk) => Promise<unknown> | undefined;
  readonly see?: (record: JobRecord) => void;
}

/** Runs until it is over, each of one page per segment. */
async function recounted(
  { clock, store }: Awaited<ReturnType<typeof books>>,
  { segments = 3, countersMax = 1_000, dies = () => false, onPage, see = () => {} }: RecountOptions = {},
): Promise<{
  readonly found: Found;
  readonly runs: number;
  readonly pages: readonly SegmentAsk[];
  readonly usage: UsageLook | undefined;
}> {
  const table = new MemoryTable();
  const pages: SegmentAsk[] = [];
  const orDie = (): void => {
    if (dies()) throw new Error('killed');
  };
  const passes = (): RecountPassStore => {
    const kept = dynamoRecountPasses({ table, instance: INSTANCE, nowMs: clock.nowMs });
    return {
      read: () => kept.read(),
      async write(pass) {
        orDie();
        await kept.write(pass);
        orDie();
      },
    };
  };
  const dying = new Proxy(store, {
    get(target, name: keyof MemoryStore) {
      const own = target[name];
      if (typeof own !== 'function') return own;
      return async (...args: unknown[]) => {
        orDie();
        if (name === 'scanSegment') {
          pages.push(args[0] as SegmentAsk);
          await onPage?.(args[0] as SegmentAsk);
        }
        const answer = await (own as (...asked: unknown[]) => unknown).apply(target, args);
        orDie();
        return answer;
      };
    },
  });
  const startedMs = clock.nowMs();
  let found: Found | undefined;
  let usage: UsageLook | undefined;
  let met = 0;
  for (let runs = 1; runs < 20_000; runs += 1) {
    try {
      const outcome = await recountOn(clock.monotonicMs() + 1, {
        ...{
          store: dying,
          clock,
          random: () => 0,
          newToken: () => String(Math.random()),
          segments,
          countersMax,
        },
        // Time stands still: without an end each round is one page of each segment.
        roundMs: 0,
        passes: passes(),
        isDue: (last) => last === undefined || last.startedAtMs < startedMs,
        visit: {
          see: (record) => {
            met += 1;
            see(record);
          },
          isFull: () => false,
          work: async () => {
            const look = { jobs: met, mended: met % 2, failed: 0 };
            met = 0;
            return look.jobs === 0 ? undefined : look;
          },
        },
        onOver: async (over, pass) => {
          found = over;
          usage = pass.usage;
        },
      });
      if (outcome === 'over' && found !== undefined) return { found, runs, pages, usage };
    } catch (error) {
      if (!(error instanceof Error) || error.message !== 'killed') throw error;
    }
  }
  throw new Error('it never ends');
}

const sorted = ({ drift, unproven, ...rest }: Found) => ({
  ...rest,
  drift: [...drift].sort((a, b) => (counterName(a.key) < counterName(b.key) ? -1 : 1)),
  unproven: [...unproven].sort((a, b) => (counterName(a.key) < counterName(b.key) ? -1 : 1)),
});

/** What one undisturbed recount finds. */
async function undisturbed(wrong: readonly number[]): Promise<ReturnType<typeof sorted>> {
  const { repaired, ...found } = await (await books(wrong)).ledger.rebuild({ repair: false, mark: true });
  expect(repaired).toBe(0);
  return sorted(found);
}

test('in runs it finds what one recount finds, and every record is shown once', async () => {
  for (const wrong of [[], [2, 5]]) {
    const seen: number[] = [];
    const house = await books(wrong);
    const { found, runs, usage } = await recounted(house, { see: ({ jobId }) => seen.push(jobId) });
    expect(sorted(found)).toEqual(await undisturbed(wrong));
    expect(usage).toMatchObject({ jobs: seen.length, failed: 0 });
    expect(found.drift.map(({ key }) => key.subject).sort()).toEqual(wrong.map((group) => `group/${group}`));
    expect(seen.sort((a, b) => a - b)).toEqual(Array.from({ length: 3 * GROUPS }, (_, index) => index + 1));
    expect(runs).toBe(1);
  }
});

test('with room for a few counters only, it counts them share by share and finds the same', async () => {
  const { found, pages } = await recounted(await books([2, 5, 11]), { countersMax: 10 });
  expect(sorted(found)).toEqual(await undisturbed([2, 5, 11]));
  const whole = await recounted(await books([2, 5, 11]));
  expect(pages.length).toBeGreaterThan(3 * whole.pages.length);
});

test('killed at any call and gone on with, it finds the same and marks the same', async () => {
  const expected = await undisturbed([3]);
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.integer({ min: 1, max: 120 }), { minLength: 1, maxLength: 6 }),
      fc.integer({ min: 1, max: 5 }),
      fc.constantFrom(7, 1_000),
      async (callsOfLife, segments, countersMax) => {
        const house = await books([3]);
        const left = [...callsOfLife];
        let calls = 0;
        const dies = (): boolean => {
          calls += 1;
          if (left[0] === undefined || calls < left[0]) return false;
          left.shift();
          calls = 0;
          return true;
        };
        const { found } = await recounted(house, { segments, countersMax, dies });
        expect(sorted(found)).toEqual(expected);
        expect(await house.ledger.readCounters([counter('group/3')])).toMatchObject([{ drifts: true }]);
      },
    ),
    { numRuns: propertyRuns(25) },
  );
});

test('a counter that somebody wrote during the first pass is no suspect any more: no second pass for it', async () => {
  const house = await books([2]);
  const whole = (await recounted(await books([]))).pages.length;
  let pages = 0;
  const { found, pages: asked } = await recounted(house, {
    async onPage() {
      pages += 1;
      // Its counter was read long before.
      if (pages === whole - 1)
        await house.ledger.hold([anAsk(9_000, [claim('group/2', 1, 1_000_000)])], FOREVER);
    },
  });
  expect(pages).toBeGreaterThanOrEqual(whole);
  expect(found.drift).toEqual([]);
  expect(asked.every(({ consistency }) => consistency === 'eventual')).toBe(true);
});

test('a job that ends between the reads of both passes is not taken for drift', async () => {
  const house = await books([2]);
  let consistent = 0;
  const { found } = await recounted(house, {
    async onPage({ consistency }) {
      if (consistency === 'consistent') consistent += 1;
      if (consistent === 40) await house.ledger.settle([{ jobId: 26, durationSeconds: 75, endedAtMs: 9e12 }]);
    },
  });
  expect(consistent).toBeGreaterThan(40);
  expect(found.drift).toEqual([]);
});

test('a counter that agrees again loses its mark', async () => {
  const house = await books([2]);
  const marked = async () => (await house.ledger.readCounters([counter('group/2')]))[0]?.drifts;
  await recounted(house);
  expect(await marked()).toBe(true);
  await house.ledger.rebuild({ repair: true });
  await recounted(house);
  expect(await marked()).toBeUndefined();
});
