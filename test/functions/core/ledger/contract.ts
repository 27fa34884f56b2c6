/** What every table under the ledger must do. Run on the in-memory table and on DynamoDB Local. */
import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { createLedger } from '../../../../functions/core/ledger/create-ledger.ts';
import type {
  BypassRequest,
  EndOutcome,
  HoldOutcome,
  HoldRequest,
  Ledger,
  RebuildReport,
  UnmeteredHold,
} from '../../../../functions/core/ledger/ledger.ts';
import { type ClosedPeriods, createClosing, markDrift } from '../../../../functions/core/ledger/rebuild.ts';
import { NO_AMOUNTS, recount } from '../../../../functions/core/ledger/recount.ts';
import type {
  ClosingStore,
  CounterWrite,
  LedgerStore,
  StoredItem,
  TransactOutcome,
  Write,
} from '../../../../functions/core/ledger/store.ts';
import { type CounterKey, counterName, type LimitClaim } from '../../../../policies/claim.ts';
import type { Violation } from '../../../../policies/reason.ts';
import { countingStore } from '../../../../scripts/proof/bench/counting-store.ts';
import {
  anAsk,
  blocked,
  claim,
  counter,
  graced,
  pipeline,
  seenBy,
  shadowClaim,
  softClaim,
  someFacts,
  wordOf,
} from '../../../support/ledger/asks.ts';
import { type TestClock, testClock } from '../../../support/ledger/test-clock.ts';
import { reservationContract } from './reservation-contract.ts';

const READ = { timeoutMs: 300_000 };
const GRACE_SECONDS = 15 * 60;
/** A correction of a closed period is closed in its turn an hour later. */
const SETTLED_DOWN_MS = 3_600_001;
/** November is over for longer than a job may run, and its records are all there. */
const AFTER_CLOSING_DATE_MS = Date.UTC(2027, 0, 10);

/** A write that adds to a counter. */
const added = (over: Partial<CounterWrite>): CounterWrite => ({
  ...{ kind: 'counter', key: counter('group/1'), committed: 0, fitted: 0, settled: 0, unchecked: {} },
  ...over,
});

interface House {
  readonly store: LedgerStore & ClosingStore;
  readonly ledger: Ledger;
  /** A second program on the same table: it has seen nothing of what the first saw. */
  readonly other: Ledger;
  readonly clock: TestClock;
  hold(asks: readonly HoldRequest[], by?: Ledger): Promise<readonly HoldOutcome[]>;
  /** Past the ledger. */
  write(...writes: Write[]): Promise<TransactOutcome>;
  /** Seconds by job. */
  settle(ran: Readonly<Record<number, number>>, endedAtMs?: number): Promise<readonly EndOutcome[]>;
  drift(): Promise<RebuildReport['drift']>;
  committed(subject: string): Promise<number>;
  close(): Promise<ClosedPeriods>;
  /** Compares counters with records, and marks what drifts and what is not closed, as a round of the recount does. */
  check(): Promise<RebuildReport>;
}

export function ledgerContract(
  newStore: (instance: string, clock: TestClock) => LedgerStore & ClosingStore,
): void {
  let houses = 0;
  const build = (): House => {
    houses += 1;
    const clock = testClock();
    const store = newStore(`gitlab-${houses}.example.com`, clock);
    const ledger = createLedger({ store, clock });
    const other = createLedger({ store, clock });
    return {
      store,
      ledger,
      other,
      clock,
      hold: (asks, by = ledger) => by.hold(asks, clock.monotonicMs() + 300_000),
      write: (...writes) => store.transact(writes, { token: randomUUID(), timeoutMs: 300_000 }),
      settle: (ran, endedAtMs = 7) =>
        ledger.settle(
          Object.entries(ran).map(([id, durationSeconds]) => ({
            jobId: Number(id),
            durationSeconds,
            endedAtMs,
          })),
        ),
      drift: async () => (await ledger.rebuild({ repair: false })).drift,
      committed: async (subject) => (await ledger.readCounters([counter(subject)]))[0]?.committed ?? -1,
      close: () => createClosing({ store, clock, random: () => 0 })(clock.monotonicMs() + 300_000),
      check: async () => {
        const report = await ledger.rebuild({ repair: false });
        const counted = await recount(store.scan());
        const drifted = report.drift.flatMap(({ key }) => counted.lines.get(counterName(key)) ?? []);
        const deps = { store, clock, random: () => 0, newToken: randomUUID };
        await markDrift(counted, new Set(drifted), deps);
        return report;
      },
    };
  };
  const words = (outcomes: readonly HoldOutcome[]): string => outcomes.map(wordOf).join(' ');
  const jobs = (count: number, claims: (index: number) => readonly LimitClaim[]): HoldRequest[] =>
    Array.from({ length: count }, (_, index) => anAsk(index + 1, claims(index)));

  describe('bounds', () => {
    test('a batch is admitted up to its limit in arrival order and no further', async () => {
      const { hold, committed } = build();
      const outcomes = await hold(jobs(5, () => [claim('group/1', 30, 100)]));
      expect(words(outcomes)).toEqual('admitted admitted admitted rejected rejected');
      expect(await committed('group/1')).toBe(90);
    });

    test('a rejected job takes no room: a smaller one behind it is admitted', async () => {
      const { hold, committed } = build();
      const amounts = [60, 60, 40];
      const outcomes = await hold(jobs(3, (index) => [claim('group/1', amounts[index] ?? 0, 100)]));
      expect(words(outcomes)).toEqual('admitted rejected admitted');
      expect(await committed('group/1')).toBe(100);
    });

    test('a limit of 0 rejects without touching a counter, also a job that costs nothing', async () => {
      const { hold, ledger } = build();
      const outcomes = await hold([
        anAsk(1, [claim('group/1', 0)], { violations: [blocked] }),
        anAsk(2, [claim('group/1', 0, 0)]),
      ]);
      expect(words(outcomes)).toEqual('rejected rejected');
      expect((await ledger.readCounters([counter('group/1')]))[0]?.rev).toBe(0);
    });

    test('a job that is rejected anyhow is told of its full limits, too, and leaves no trace in them', async () => {
      const { hold, committed, other } = build();
      await hold([anAsk(1, [claim('group/1', 95, 100)])]);
      // The other program has never seen the counter.
      const [outcome] = await hold(
        [anAsk(2, [claim('group/1', 10, 100), claim('group/2', 10, 100)], { violations: [blocked] })],
        other,
      );
      expect(outcome).toMatchObject({
        outcome: 'rejected',
        violations: [blocked, { reason: { code: 'BUDGET_EXHAUSTED', committed: 95, subject: 'group/1' } }],
      });
      expect([await committed('group/1'), await committed('group/2')]).toEqual([95, 0]);
    });

    test('what never fits a limit that watches counts in committed alone: it ran, and would not have', async () => {
      const { hold, ledger, settle } = build();
      const { bound: _, ...larger } = { ...shadowClaim('group/1', 500, 100), neverFits: true as const };
      expect(words(await hold([anAsk(1, [larger]), anAsk(2, [shadowClaim('group/1', 60, 100)])]))).toEqual(
        'admitted admitted',
      );
      expect(await ledger.readCounters([counter('group/1')])).toMatchObject([{ committed: 560, fitted: 60 }]);
      await settle({ 1: 300 }, 0);
      expect(await ledger.readCounters([counter('group/1')])).toMatchObject([{ committed: 360, fitted: 60 }]);
    });

    test('a limit below a batch’s sum on an absent counter never lets the absent arm pass', async () => {
      const outcome = await build().write(added({ committed: 50, fitted: 50, maxCommitted: -5 }));
      expect(outcome).toEqual({ outcome: 'refused', refusals: [{ kind: 'counter' }] });
    });

    test('mixed bounds and exempt jobs in one batch: each bound holds for its own job, exempt ones only take room', async () => {
      const { hold, ledger } = build();
      const outcomes = await hold([
        anAsk(1, [claim('group/1', 40, 100)]),
        anAsk(2, [claim('group/1', 50)], { unchecked: 'exempt' }),
        anAsk(3, [claim('group/1', 20, 100)]),
        anAsk(4, [claim('group/1', 20, 120)]),
        anAsk(5, [claim('group/1', 500)], { unchecked: 'exempt' }),
        anAsk(6, [claim('group/1', 1, 120)]),
      ]);
      expect(words(outcomes)).toEqual('admitted admitted rejected admitted admitted rejected');
      const [shown] = await ledger.readCounters([counter('group/1')]);
      expect(shown).toMatchObject({ committed: 610, fitted: 610, unchecked: { exempt: 550 } });
    });

    test('when only the parent is full, the job is rejected and the child counter stays untouched', async () => {
      const { hold, ledger } = build();
      const both = (amount: number) => [claim('group/1', amount, 100), claim('group/2', amount, 1000)];
      await hold([anAsk(1, both(90))]);
      const [outcome] = await hold([anAsk(2, both(20))]);
      expect(seenBy(outcome)).toEqual([['group/1', 90]]);
      expect(await ledger.readCounters([counter('group/2')])).toMatchObject([{ committed: 90, rev: 1 }]);
    });

    test('all full counters are reported together, with what they showed', async () => {
      const { hold, other } = build();
      const both = (amount: number) => [claim('group/1', amount, 100), claim('group/2', amount, 50)];
      await hold([anAsk(1, both(45))]);
      expect(seenBy((await hold([anAsk(2, both(60))], other))[0])).toEqual([
        ['group/1', 45],
        ['group/2', 45],
      ]);
    });
  });

  describe('shadow and warn', () => {
    test('shadow counts what would have been admitted apart from the naive sum', async () => {
      const { hold, ledger } = build();
      const outcomes = await hold(jobs(5, () => [shadowClaim('group/1', 30, 100)]));
      expect(new Set(outcomes.map(wordOf))).toEqual(new Set(['admitted']));
      expect(outcomes.map((outcome) => 'shadow' in outcome && outcome.shadow.length)).toEqual([
        0, 0, 0, 1, 1,
      ]);
      expect(await ledger.readCounters([counter('group/1')])).toMatchObject([{ committed: 150, fitted: 90 }]);
    });

    test('shadow refusals on a counter that others filled are noted with its fitted sum, not the naive one', async () => {
      const { hold, other } = build();
      await hold(jobs(5, () => [shadowClaim('group/1', 30, 100)]));
      const [outcome] = await hold([anAsk(9, [shadowClaim('group/1', 20, 100)])], other);
      expect(outcome).toMatchObject({
        outcome: 'admitted',
        shadow: [{ mode: 'shadow', reason: { committed: 90 } }],
      });
    });

    test('modes may mix on one counter: enforced and unbounded claims count as fitted, a shadow one only if it fits', async () => {
      const { hold, ledger } = build();
      const outcomes = await hold([
        anAsk(1, [claim('group/1', 50, 100)]),
        anAsk(2, [shadowClaim('group/1', 60, 100)]),
        anAsk(3, [shadowClaim('group/1', 30, 100)]),
        anAsk(4, [claim('group/1', 5)], { unchecked: 'exempt' }),
      ]);
      expect(new Set(outcomes.map(wordOf))).toEqual(new Set(['admitted']));
      expect(await ledger.readCounters([counter('group/1')])).toMatchObject([{ committed: 145, fitted: 85 }]);
    });
  });

  describe('soft limits', () => {
    const soft = (outcome: HoldOutcome | undefined) =>
      outcome?.outcome === 'admitted'
        ? outcome.shadow.map(({ mode, reason }) => [
            mode,
            reason.code,
            'committed' in reason ? [reason.committed, reason.limitAmount] : [],
          ])
        : [wordOf(outcome)];
    const warned = (committed: number, limitAmount: number) => [
      ['warn', 'SOFT_LIMIT', [committed, limitAmount]],
    ];

    test('jobs are admitted past it, each with a warning that has the numbers, and refused only by the limit itself', async () => {
      const { hold, ledger } = build();
      const outcomes = await hold(jobs(5, () => [softClaim('group/1', 30, 60, 120)]));
      expect(outcomes.map(soft)).toEqual([[], [], warned(60, 60), warned(90, 60), ['rejected']]);
      expect(await ledger.readCounters([counter('group/1')])).toMatchObject([
        { committed: 120, fitted: 120 },
      ]);
    });

    test('a small job behind a large one that passed it is told as well, also by a program that has seen nothing', async () => {
      const { hold, other } = build();
      await hold([
        anAsk(1, [softClaim('group/1', 55, 60, 120)]),
        anAsk(2, [softClaim('group/1', 20, 60, 120)]),
      ]);
      const [outcome] = await hold([anAsk(3, [softClaim('group/1', 1, 60, 120)])], other);
      expect(soft(outcome)).toEqual(warned(75, 60));
    });

    test('ending exactly on it warns nobody, and neither does a job that another limit refuses', async () => {
      const { hold } = build();
      expect((await hold([anAsk(1, [softClaim('group/1', 60, 60, 120)])])).map(soft)).toEqual([[]]);
      const [outcome] = await hold([anAsk(2, [softClaim('group/1', 30, 60, 120), claim('group/2', 2, 1)])]);
      expect(outcome).toMatchObject({ outcome: 'rejected', shadow: [] });
    });
  });

  describe('grace', () => {
    test('a job of a pipeline that runs may go past the limit up to the grace, told to the owner; others may not', async () => {
      const { hold, other, committed } = build();
      expect(words(await hold([anAsk(1, graced(7, 90, 100, 120))]))).toEqual('admitted');
      const outcomes = await hold(
        [2, 3, 4].map((id) => anAsk(id, graced(id === 3 ? 8 : 7, 15, 100, 120))),
        other,
      );
      expect(words(outcomes)).toEqual('admitted rejected admitted');
      expect(outcomes[0]).toMatchObject({
        shadow: [{ mode: 'warn', reason: { code: 'BUDGET_EXHAUSTED', committed: 90, limitAmount: 100 } }],
      });
      expect(await committed('group/1')).toBe(120);
    });

    test('the first job of a pipeline has none; one beside it in the same batch makes it run', async () => {
      const { hold } = build();
      const outcomes = await hold([
        anAsk(1, graced(7, 95, 100, 120)),
        anAsk(2, graced(8, 10, 100, 120)),
        anAsk(3, graced(7, 10, 100, 120)),
      ]);
      expect(words(outcomes)).toEqual('admitted rejected admitted');
    });

    test('a pipeline whose jobs were all released runs no more, one whose jobs have ended still does', async () => {
      const { hold, ledger, other, settle } = build();
      await hold([anAsk(1, graced(7, 5, 100, 120)), anAsk(2, graced(8, 5, 100, 120))]);
      await hold([anAsk(3, [claim('group/1', 90, 100)])]);
      await ledger.release([{ jobId: 1, cause: 'canceled' }]);
      await settle({ 2: 5 });
      const outcomes = await hold(
        [anAsk(4, graced(7, 10, 100, 120)), anAsk(5, graced(8, 10, 100, 120))],
        other,
      );
      expect(words(outcomes)).toEqual('rejected admitted');
    });

    test('no grace makes up for another limit that is full, nor for a violation that needs no counter', async () => {
      const { hold } = build();
      await hold([anAsk(1, [...graced(7, 100, 100, 120), claim('group/2', 1, 1)])]);
      const outcomes = await hold([
        anAsk(2, [...graced(7, 10, 100, 120), claim('group/2', 1, 1)]),
        anAsk(3, graced(7, 10, 100, 120), { violations: [blocked] }),
        anAsk(4, graced(7, 10, 100, 120)),
      ]);
      expect(words(outcomes)).toEqual('rejected rejected admitted');
    });

    test('a pipeline’s counter that garbage collection took is no drift', async () => {
      const { hold, ledger, write } = build();
      await hold([anAsk(1, graced(7, 10, 100, 120))]);
      const gone: Write = { kind: 'reset', key: pipeline(7), amounts: NO_AMOUNTS, rev: 1 };
      expect(await write(gone)).toEqual({
        outcome: 'committed',
      });
      expect(await ledger.rebuild({ repair: true })).toMatchObject({ drift: [], repaired: 0 });
    });
  });

  describe('packs', () => {
    test('96 jobs over 60 projects are decided in more than one transaction and none is lost', async () => {
      const { hold, ledger, store } = build();
      const asks = jobs(96, (index) => [claim('group/1', 1, 80), claim(`project/${index % 60}`, 1, 1)]);
      const outcomes = await hold(asks);
      // One job per project; the second job of 36 projects finds its project full.
      expect(outcomes.filter(({ outcome }) => outcome === 'admitted')).toHaveLength(60);
      expect(await ledger.readCounters([counter('group/1')])).toMatchObject([{ committed: 60 }]);
      const records = await store.readRecords(
        asks.map(({ jobId }) => jobId),
        READ,
      );
      expect(records.filter((record) => record?.state === 'REJECTED')).toHaveLength(36);
    });

    test.each([95, 96, 97, 98, 99, 100, 101])('%i jobs on three counters are all admitted', async (count) => {
      const { hold, committed } = build();
      const outcomes = await hold(
        jobs(count, () => ['group/1', 'group/2', 'group/3'].map((id) => claim(id, 1, 1000))),
      );
      expect(new Set(outcomes.map(wordOf))).toEqual(new Set(['admitted']));
      expect(await committed('group/3')).toBe(count);
    });
  });

  describe('packs of several roots', () => {
    const ROOTS = 12;
    const shared = counter('instance', 'at-once', 'now');
    const own = (root: number) => counter(`group/${root}`, 'at-once', 'now');
    const slot = (key: CounterKey, bound: number): LimitClaim =>
      claim(key.subject, 1, bound, { unit: 'jobs', counter: key });
    /** So many jobs of each root in turn, under its own limit and the one of all. */
    const ofRoots = (from: number, count: number, most: number, ownMost: (root: number) => number) =>
      Array.from({ length: count }, (_, index) => {
        const root = index % ROOTS;
        return anAsk(from + index, [slot(shared, most), slot(own(root), ownMost(root))]);
      });
    /** A program that has seen nothing, and how often it wrote. */
    const counting = ({ store, clock }: House) => {
      const counted = countingStore(store, 'gitlab.example.com');
      return { made: counted.counts, ledger: createLedger({ store: counted, clock }) };
    };
    const countOf = async (ledger: Ledger, key: CounterKey): Promise<number | undefined> =>
      (await ledger.readCounters([key]))[0]?.committed;

    test('roots that are full are parted from the others, who are admitted by the next write', async () => {
      const house = build();
      const isFull = (root: number): boolean => root % 4 === 0;
      await house.hold(ofRoots(1, ROOTS, 1_000, () => 1).filter((_, root) => isFull(root)));
      const { made, ledger } = counting(house);
      const outcomes = await house.hold(
        ofRoots(100, ROOTS, 1_000, () => 1),
        ledger,
      );
      expect(outcomes.map(wordOf)).toEqual(
        outcomes.map((_, root) => (isFull(root) ? 'rejected' : 'admitted')),
      );
      expect(made.transactions).toBe(2);
      expect(await countOf(ledger, shared)).toBe(ROOTS);
    });

    test('their ends are settled together, once each, by whichever of two programs comes first', async () => {
      const house = build();
      const { hold, other, drift } = house;
      const asks = ofRoots(1, 4 * ROOTS, 1_000, () => 10);
      await hold(asks);
      const { made, ledger } = counting(house);
      const ends = asks.map(({ jobId }) => ({ jobId, durationSeconds: 5, endedAtMs: 7 }));
      expect(new Set(await ledger.settle(ends))).toEqual(new Set(['applied']));
      expect(made.transactions).toBe(1);
      await hold(ofRoots(100, 4 * ROOTS, 1_000, () => 10));
      const late = ends.map(({ jobId, ...end }) => ({ ...end, jobId: jobId + 99 }));
      const [one, two] = await Promise.all([ledger.settle(late), other.settle(late.toReversed())]);
      const applied = one.map((outcome, index) => [outcome, two.toReversed()[index]].sort());
      expect(new Set(applied.map(String))).toEqual(new Set(['applied,unchanged']));
      expect(await countOf(ledger, shared)).toBe(0);
      expect(await drift()).toEqual([]);
    });
  });

  describe('same job again', () => {
    test('a held job gets the same answer from anybody, at any time, and is charged once', async () => {
      const { hold, committed, other, clock } = build();
      const ask = anAsk(1, [claim('group/1', 60, 100)]);
      await hold([ask]);
      clock.advance(3_600_000);
      expect(await hold([ask], other)).toEqual([
        { outcome: 'admitted', generation: 1, repeated: true, shadow: [] },
      ]);
      expect(await committed('group/1')).toBe(60);
    });

    test('rejected, then the limit raised: the same answer within 60 s, evaluated anew after', async () => {
      const { hold, committed, clock } = build();
      const withLimit = (bound: number) => anAsk(1, [claim('group/1', 60, bound)]);
      const [first] = await hold([withLimit(50)]);
      clock.advance(59_999);
      const [again] = await hold([withLimit(100)]);
      expect(again).toEqual({ ...first, repeated: true });
      clock.advance(1);
      expect(await hold([withLimit(100)])).toMatchObject([
        { outcome: 'admitted', generation: 2, repeated: false },
      ]);
      expect(await committed('group/1')).toBe(60);
    });

    test('released, then asked again: held anew under the next generation', async () => {
      const { hold, ledger, committed } = build();
      const ask = anAsk(1, [claim('group/1', 60, 100)]);
      await hold([ask]);
      await ledger.release([{ jobId: 1, cause: 'canceled' }]);
      expect(await committed('group/1')).toBe(0);
      expect(await hold([ask])).toMatchObject([{ outcome: 'admitted', generation: 2, repeated: false }]);
      expect(await committed('group/1')).toBe(60);
    });

    test('expired with its hold charged, then asked again: it pays once', async () => {
      const { hold, ledger, committed, store, drift } = build();
      const ask = anAsk(1, [claim('group/1', 60, 100)]);
      await hold([ask]);
      await ledger.expire([{ jobId: 1, cause: '404', charge: 'hold' }]);
      expect(await committed('group/1')).toBe(60);
      expect(await hold([ask])).toMatchObject([{ outcome: 'admitted', generation: 2 }]);
      expect(await committed('group/1')).toBe(60);
      expect((await store.readEntries(1, READ)).map(({ cause }) => cause)).toEqual(['expired', 'reopened']);
      expect(await drift()).toEqual([]);
    });

    test('rejected and yet it ran: charged unchecked on the counters it was rejected on, and flagged', async () => {
      const { hold, ledger, settle } = build();
      await hold([anAsk(1, [claim('group/1', 90, 100)])]);
      await hold([anAsk(2, [claim('group/1', 60, 100)])]);
      expect(await settle({ 2: 40 })).toEqual(['applied']);
      expect(await ledger.readRecord(2)).toMatchObject({
        state: 'SETTLED',
        flagged: true,
        unchecked: 'bypass',
      });
      expect(await ledger.readCounters([counter('group/1')])).toMatchObject([
        { committed: 130, fitted: 130, settled: 40, unchecked: { bypass: 40 } },
      ]);
    });
  });

  describe('settle, release, expire', () => {
    const held = async (house: House): Promise<void> => {
      await house.hold([
        anAsk(1, [
          claim('group/1', 1000, 5000),
          claim('group/1', 600, 9000, { unit: 'seconds', counter: counter('group/1', 'minutes-month') }),
          claim('group/1', 1, 10, { unit: 'jobs', counter: counter('group/1', 'at-once', 'now') }),
        ]),
      ]);
    };
    const amounts = async ({ ledger }: House): Promise<(number[] | undefined)[]> => {
      const keys = [
        counter('group/1'),
        counter('group/1', 'minutes-month'),
        counter('group/1', 'at-once', 'now'),
      ];
      return (await ledger.readCounters(keys)).map(({ committed, fitted, settled }) => [
        committed,
        fitted,
        settled,
      ]);
    };

    test('money and minutes settle to what was used at the record’s price, rounded up; concurrent jobs are given back', async () => {
      const house = build();
      await held(house);
      // 61 s at 60 a minute; the price is the record's.
      expect(await house.settle({ 1: 60.2 })).toEqual(['applied']);
      expect(await amounts(house)).toEqual([
        [61, 61, 61],
        [61, 61, 61],
        [0, 0, 0],
      ]);
      expect(await house.ledger.readRecord(1)).toMatchObject({
        state: 'SETTLED',
        durationSeconds: 61,
        endedAtMs: 7,
      });
    });

    test('CPU, memory and slots are given back at the end; a start stays counted unless the job never ran', async () => {
      const units = ['millicpu', 'bytes', 'jobs', 'starts'] as const;
      const ends: [(house: House) => Promise<unknown>, number[]][] = [
        [({ settle }) => settle({ 1: 9 }), [0, 0, 0, 1]],
        [({ ledger }) => ledger.release([{ jobId: 1, cause: 'canceled' }]), [0, 0, 0, 0]],
        [({ ledger }) => ledger.expire([{ jobId: 1, cause: '404', charge: 'hold' }]), [0, 0, 0, 1]],
        [({ ledger }) => ledger.expire([{ jobId: 1, cause: '404', charge: 'nothing' }]), [0, 0, 0, 0]],
      ];
      for (const [end, left] of ends) {
        const house = build();
        const keys = units.map((unit) =>
          counter('group/1', unit, unit === 'starts' ? '2026-11-21T12Z' : 'now'),
        );
        const amounts = [4_000, 2 ** 34, 1, 1];
        const claims = keys.map((key, index) =>
          claim('', amounts[index] ?? 0, 2 ** 40, { counter: key, unit: units[index] ?? 'jobs' }),
        );
        await house.hold([anAsk(1, claims)]);
        const shown = async () => (await house.ledger.readCounters(keys)).map(({ committed }) => committed);
        expect(await shown()).toEqual(amounts);
        await end(house);
        expect(await shown()).toEqual(left);
        expect(await house.drift()).toEqual([]);
      }
    });

    test('a job that was rejected, released or expired and ran all the same counts one start', async () => {
      const house = build();
      const started = (bound: number) => [
        claim('', 1, bound, { counter: counter('group/1', 'starts-hour', '2026-11-21T12Z'), unit: 'starts' }),
      ];
      await house.hold([anAsk(1, started(2)), anAsk(2, started(2)), anAsk(3, started(2))]);
      await house.ledger.release([{ jobId: 1, cause: 'canceled' }]);
      expect(await house.settle({ 1: 9, 2: 9, 3: 9 })).toEqual(['corrected', 'applied', 'applied']);
      const key = counter('group/1', 'starts-hour', '2026-11-21T12Z');
      expect(await house.ledger.readCounters([key])).toMatchObject([{ committed: 3, settled: 3 }]);
    });

    test('a later, different truth is a correction entry: the settled amount is not edited', async () => {
      const house = build();
      await held(house);
      await house.settle({ 1: 60 });
      expect(await house.settle({ 1: 90 }, 8)).toEqual(['corrected']);
      expect(await house.settle({ 1: 90 }, 8)).toEqual(['unchanged']);
      expect(await house.settle({ 1: 50 }, 9)).toEqual(['corrected']);
      expect((await amounts(house))[0]).toEqual([50, 50, 50]);
      const record = await house.ledger.readRecord(1);
      expect(record?.claims[0]).toMatchObject({ held: 1000, counted: 60, corrected: -10 });
      const entries = await house.store.readEntries(1, READ);
      expect(entries.map(({ number, deltas }) => [number, deltas[0]?.delta])).toEqual([
        [1, 30],
        [2, -40],
      ]);
    });

    test('an expired job keeps its hold charged if told to, except concurrent jobs', async () => {
      const house = build();
      await held(house);
      expect(await house.ledger.expire([{ jobId: 1, cause: '404', charge: 'hold' }])).toEqual(['applied']);
      expect(await amounts(house)).toEqual([
        [1000, 1000, 1000],
        [600, 600, 600],
        [0, 0, 0],
      ]);
      expect(await house.settle({ 1: 30 })).toEqual(['corrected']);
      expect((await amounts(house))[0]).toEqual([30, 30, 30]);
    });

    test('a job that used more than it held is charged in full, whatever the limit', async () => {
      const house = build();
      await house.hold([anAsk(1, [claim('group/1', 10, 20)])]);
      await house.settle({ 1: 600 });
      expect(await house.committed('group/1')).toBe(600);
      expect(words(await house.hold([anAsk(2, [claim('group/1', 0, 20)])]))).toEqual('rejected');
    });

    test('a duration is never taken as longer than the timeout allows, nor as negative', async () => {
      const house = build();
      await house.hold([anAsk(1, [claim('group/1', 10, 2000)]), anAsk(2, [claim('group/2', 10, 20)])]);
      await house.settle({ 1: 1e9, 2: -5 });
      expect(await house.committed('group/1')).toBe(3600 + GRACE_SECONDS);
      expect(await house.committed('group/2')).toBe(0);
    });

    test('a job the ledger never saw is unknown and charges nothing', async () => {
      const { ledger, settle } = build();
      expect(await settle({ 404: 1 })).toEqual(['unknown']);
      expect(await ledger.release([{ jobId: 404, cause: 'canceled' }])).toEqual(['unknown']);
      expect(await ledger.expire([{ jobId: 404, cause: '404', charge: 'hold' }])).toEqual(['unknown']);
    });
  });

  describe('unmetered answers', () => {
    const told = (
      jobId: number,
      answered: 'admitted' | 'rejected',
      answeredAtMs: number,
      over: Partial<UnmeteredHold> = {},
    ): UnmeteredHold => ({
      ...anAsk(jobId, [claim('group/1', 60, 50)]),
      answered,
      cause: 'deadline',
      answeredAtMs,
      ...over,
    });
    const record = (house: House, asks: readonly UnmeteredHold[]) =>
      house.ledger.recordUnmetered(asks, house.clock.monotonicMs() + 300_000);

    test('an admission nobody recorded is charged without asking, once', async () => {
      const house = build();
      const ask = told(1, 'admitted', house.clock.nowMs());
      expect(await record(house, [ask, ask])).toEqual(['recorded', 'recorded']);
      await record(house, [ask]);
      expect(await house.ledger.readCounters([counter('group/1')])).toMatchObject([
        { committed: 60, fitted: 60, unchecked: { unmetered: 60 } },
      ]);
      expect(await house.ledger.readRecord(1)).toMatchObject({
        state: 'HELD',
        answered: 'fallback',
        generation: 1,
      });
    });

    test('an admission the ledger had recorded is only marked', async () => {
      const house = build();
      await house.hold([anAsk(1, [claim('group/1', 40, 50)])]);
      await record(house, [told(1, 'admitted', house.clock.nowMs())]);
      expect(await house.ledger.readRecord(1)).toMatchObject({
        state: 'HELD',
        answered: 'fallback',
        generation: 1,
      });
      expect(await house.committed('group/1')).toBe(40);
    });

    test('rejected by the ledger, admitted by the fallback: charged without asking, flagged, next generation', async () => {
      const house = build();
      await house.hold([anAsk(1, [claim('group/1', 60, 50)])]);
      await record(house, [told(1, 'admitted', house.clock.nowMs())]);
      expect(await house.ledger.readRecord(1)).toMatchObject({ state: 'HELD', flagged: true, generation: 2 });
      expect(await house.committed('group/1')).toBe(60);
    });

    test.each([
      { charge: 'hold', flagged: true },
      { charge: 'nothing', flagged: false },
    ] as const)(
      'whatever flagged it before, expired with $charge charged: flagged $flagged',
      async ({ charge, flagged }) => {
        const house = build();
        await house.hold([anAsk(1, [claim('group/1', 60, 50)])]);
        await record(house, [told(1, 'admitted', house.clock.nowMs())]);
        await house.ledger.expire([{ jobId: 1, cause: '404', charge }]);
        expect(await house.ledger.readRecord(1)).toMatchObject({ state: 'EXPIRED', flagged });
      },
    );

    test('rejected by the fallback: nothing is charged, and what was held waits for the sweep', async () => {
      const house = build();
      await house.hold([anAsk(1, [claim('group/1', 40, 50)])]);
      const asks = [told(1, 'rejected', house.clock.nowMs()), told(2, 'rejected', house.clock.nowMs())];
      expect(await record(house, asks)).toEqual(['recorded', 'recorded']);
      expect(await house.ledger.readRecord(1)).toMatchObject({ state: 'HELD', answered: 'fallback' });
      expect(await house.ledger.readRecord(2)).toMatchObject({ state: 'REJECTED', answered: 'fallback' });
      expect(await house.committed('group/1')).toBe(40);
    });

    test('a rejection by the fallback that gave no reason is no answer to repeat: the job is evaluated anew', async () => {
      const house = build();
      await record(house, [told(1, 'rejected', house.clock.nowMs())]);
      expect(await house.hold([anAsk(1, [claim('group/1', 40, 50)])])).toMatchObject([
        { outcome: 'admitted', generation: 2, repeated: false },
      ]);
    });

    test('an answer posted after its job was released does not hold again', async () => {
      const house = build();
      const answeredAtMs = house.clock.nowMs();
      await house.hold([anAsk(1, [claim('group/1', 40, 50)])]);
      house.clock.advance(1000);
      await house.ledger.release([{ jobId: 1, cause: 'canceled' }]);
      await record(house, [told(1, 'admitted', answeredAtMs)]);
      expect(await house.ledger.readRecord(1)).toMatchObject({ state: 'RELEASED', answered: 'fallback' });
      expect(await house.committed('group/1')).toBe(0);
    });

    test('a question after the release, admitted by the fallback, is charged under the next generation', async () => {
      const house = build();
      await house.hold([anAsk(1, [claim('group/1', 40, 50)])]);
      await house.ledger.expire([{ jobId: 1, cause: '404', charge: 'hold' }]);
      house.clock.advance(1000);
      await record(house, [told(1, 'admitted', house.clock.nowMs())]);
      expect(await house.ledger.readRecord(1)).toMatchObject({ state: 'HELD', generation: 2, entries: 2 });
      expect(await house.committed('group/1')).toBe(60);
      expect(await house.drift()).toEqual([]);
    });
  });

  describe('rebuild', () => {
    test('finds no drift in what the ledger wrote, and repairs a counter that is wrong or missing', async () => {
      const { hold, ledger, committed, write, drift } = build();
      await hold(jobs(3, () => [claim('group/1', 10, 1000)]));
      expect(await ledger.rebuild({ repair: false })).toEqual({
        records: 3,
        counters: 1,
        drift: [],
        repaired: 0,
        unproven: [],
        passedOver: 0,
      });
      await write(added({ committed: 7 }));
      expect(await ledger.rebuild({ repair: false })).toMatchObject({
        drift: [{ key: counter('group/1'), counter: { committed: 37 }, recount: { committed: 30 } }],
        repaired: 0,
      });
      expect(await ledger.rebuild({ repair: true })).toMatchObject({ repaired: 1 });
      expect(await committed('group/1')).toBe(30);
      expect(await drift()).toEqual([]);

      const record = await ledger.readRecord(1);
      if (record === undefined) throw new Error('job 1 was held and has no record');
      const lost = {
        ...record,
        jobId: 50,
        claims: record.claims.map((one) => ({ ...one, counter: counter('group/9') })),
      };
      await write({ kind: 'record', record: lost });
      expect(await ledger.rebuild({ repair: true })).toMatchObject({ repaired: 1 });
      expect(await committed('group/9')).toBe(10);
    });

    test('a closed period counts its closing entry and later corrections, not its records', async () => {
      const { hold, ledger, store, clock, committed, close, check, settle } = build();
      await hold(jobs(2, () => [claim('group/1', 10, 1000)]));
      expect(await close()).toEqual({ closed: 0, waiting: 0, undecided: 0 });
      clock.advance(AFTER_CLOSING_DATE_MS - clock.nowMs());
      // It is looked at again some hours later, and stands in nobody's way until then.
      expect(await close()).toEqual({ closed: 0, waiting: 1, undecided: 0 });
      expect(await close()).toEqual({ closed: 0, waiting: 0, undecided: 0 });
      expect(await ledger.rebuild({ repair: false })).toMatchObject({ drift: [] });
      await settle({ 1: 4, 2: 4 });
      await settle({ 2: 5 });
      clock.advance(SETTLED_DOWN_MS);
      expect(await close()).toEqual({ closed: 1, waiting: 0, undecided: 0 });
      expect(await close()).toEqual({ closed: 0, waiting: 0, undecided: 0 });
      clock.advance(1000);
      await settle({ 1: 8 });
      expect(await committed('group/1')).toBe(4 + 5 + 4);
      expect(await check()).toMatchObject({ drift: [] });
      // The correction is taken into a new closing, before garbage collection takes it.
      clock.advance(SETTLED_DOWN_MS);
      expect(await close()).toEqual({ closed: 1, waiting: 0, undecided: 0 });
      expect(await check()).toMatchObject({ drift: [] });
      const closings: StoredItem[] = [];
      for await (const item of store.scan()) if (item.kind === 'closing') closings.push(item);
      expect(closings).toMatchObject([{ closing: { committed: 4 + 5 + 4, closedAtMs: clock.nowMs() } }]);
    });

    test('the period of a counter that drifts stays open until it is repaired', async () => {
      const { hold, ledger, clock, committed, close, check, write, settle } = build();
      await hold([anAsk(1, [claim('group/1', 10, 1000)])]);
      await settle({ 1: 4 }, clock.nowMs());
      await write(added({ committed: -3, fitted: -3, settled: -3 }));
      expect((await check()).drift).toHaveLength(1);
      clock.advance(AFTER_CLOSING_DATE_MS - clock.nowMs());
      expect(await close()).toEqual({ closed: 0, waiting: 1, undecided: 0 });
      expect(await ledger.rebuild({ repair: true })).toMatchObject({ repaired: 1 });
      clock.advance(SETTLED_DOWN_MS);
      expect(await close()).toEqual({ closed: 1, waiting: 0, undecided: 0 });
      expect(await committed('group/1')).toBe(4);
    });
  });

  test('a rejected job that ran is charged as a correction once its period was closed, so the period closes again', async () => {
    const { hold, ledger, clock, committed, close, settle } = build();
    await hold([anAsk(1, [claim('group/1', 90, 100)])]);
    expect(words(await hold([anAsk(2, [claim('group/1', 45, 100)])]))).toEqual('rejected');
    await settle({ 1: 60 }, clock.nowMs());
    clock.advance(AFTER_CLOSING_DATE_MS - clock.nowMs());
    expect(await close()).toMatchObject({ closed: 1 });
    clock.advance(1);
    const end = { jobId: 2, durationSeconds: 45, endedAtMs: clock.nowMs() };
    expect(await ledger.settle([end])).toEqual(['applied']);
    expect(await ledger.settle([end])).toEqual(['unchanged']);
    expect(await committed('group/1')).toBe(105);
    expect(await ledger.rebuild({ repair: true })).toMatchObject({ drift: [], repaired: 0 });
    expect(await ledger.readRecord(2)).toMatchObject({
      state: 'SETTLED',
      unchecked: 'bypass',
      durationSeconds: 45,
    });
    clock.advance(SETTLED_DOWN_MS);
    expect(await close()).toEqual({ closed: 1, waiting: 0, undecided: 0 });
    expect(await committed('group/1')).toBe(105);
  });

  describe('limits that change', () => {
    test('lowering a limit below what is committed kills nobody: running jobs settle, new ones wait', async () => {
      const { hold, ledger, clock, committed, settle } = build();
      await hold(jobs(3, () => [claim('group/1', 30, 100)]));
      expect(words(await hold([anAsk(4, [claim('group/1', 1, 50)])]))).toEqual('rejected');
      expect((await ledger.readRecord(3))?.state).toBe('HELD');
      expect(words(await hold([anAsk(1, [claim('group/1', 30, 50)])]))).toEqual('admitted');
      await settle({ 1: 9, 2: 9, 3: 9 }, clock.nowMs());
      expect(await committed('group/1')).toBe(27);
      expect(words(await hold([anAsk(5, [claim('group/1', 23, 50)])]))).toEqual('admitted');
    });

    test('prices changed mid-job: it settles at the price and the rounding of its admission', async () => {
      const { hold, ledger, clock, committed, settle } = build();
      const facts = someFacts({ microsPerMinute: 600, round: 'minute', priceVersion: '2026-11' });
      await hold([anAsk(1, [claim('group/1', 6_000, 10_000)], { facts })]);
      await settle({ 1: 61 }, clock.nowMs());
      expect(await committed('group/1')).toBe(1_200);
      expect((await ledger.readRecord(1))?.facts).toMatchObject({ round: 'minute', priceVersion: '2026-11' });
    });

    test('a job admitted in the last millisecond of a period settles there, weeks later', async () => {
      const { hold, ledger, clock, committed, settle } = build();
      clock.advance(Date.UTC(2026, 11, 1) - 1 - clock.nowMs());
      await hold([anAsk(1, [claim('group/1', 600, 1_000)])]);
      clock.advance(7 * 86_400_000);
      await settle({ 1: 300 }, clock.nowMs());
      const december = counter('group/1', 'money-month', '2026-12');
      expect(await committed('group/1')).toBe(300);
      expect(await ledger.readCounters([december])).toMatchObject([{ committed: 0, rev: 0 }]);
    });
  });

  describe('table', () => {
    test('every refused item is reported, and an item whose condition held is not', async () => {
      const { store, hold, write } = build();
      await hold(jobs(2, () => [claim('group/1', 5, 100)]));
      const [one, two] = await store.readRecords([1, 2], READ);
      if (one === undefined || two === undefined) throw new Error('two jobs were held and have no records');
      const outcome = await write(
        { kind: 'record', record: one },
        { kind: 'record', record: { ...two, rev: 2 }, replaces: two },
        { kind: 'record', record: { ...one, jobId: 3 } },
        added({ committed: 1, fitted: 1, maxCommitted: 9 }),
      );
      if (outcome.outcome !== 'refused') throw new Error(`expected a refusal, got ${outcome.outcome}`);
      expect(outcome.refusals[0]).toEqual({ kind: 'record', record: one });
      expect(outcome.refusals[1]).toBeUndefined();
      expect(outcome.refusals[2]).toBeUndefined();
      expect(outcome.refusals[3]).toMatchObject({ kind: 'counter', counter: { committed: 10, rev: 1 } });
    });

    test('two GitLab instances in one table do not see each other', async () => {
      const { hold, ledger } = build();
      const elsewhere = build();
      await hold([anAsk(1, [claim('group/1', 5, 100)])]);
      expect(await elsewhere.ledger.readRecord(1)).toBeUndefined();
      expect(await elsewhere.ledger.rebuild({ repair: false })).toMatchObject({ records: 0, counters: 0 });
      expect(await ledger.rebuild({ repair: false })).toMatchObject({ records: 1, counters: 1 });
    });

    test('names with separators inside stay one counter', async () => {
      const { hold, ledger, drift } = build();
      const odd = counter('runner-class/a|b#c%d', 'x|y');
      await hold([anAsk(1, [claim('', 5, 100, { counter: odd })])]);
      expect(await ledger.readCounters([odd])).toMatchObject([{ key: odd, committed: 5 }]);
      expect((await ledger.readRecord(1))?.claims[0]?.counter).toEqual(odd);
      expect(await drift()).toEqual([]);
    });
  });

  describe('announcements', () => {
    const DAY = { ttlMs: 86_400_000, timeoutMs: 300_000 };

    test('of many who say the same at once exactly one is first, also across programs', async () => {
      const { ledger, other } = build();
      const said = await Promise.all(
        Array.from({ length: 8 }, (_, index) => (index % 2 === 0 ? ledger : other).announceOnce(['x'], DAY)),
      );
      expect(said.flat().filter((first) => first)).toHaveLength(1);
    });

    test('each key is its own, and of equal keys in one call the first is first', async () => {
      const { ledger } = build();
      const odd = `${'long '.repeat(1000)}|#%`;
      expect(await ledger.announceOnce(['a', 'b', 'a', odd], DAY)).toEqual([true, true, false, true]);
      expect(await ledger.announceOnce([odd, 'b', 'c'], DAY)).toEqual([false, false, true]);
      expect(await ledger.announceOnce([], DAY)).toEqual([]);
    });

    test('it may be said again once its time is over, though garbage collection has not come by', async () => {
      const { ledger, clock } = build();
      await ledger.announceOnce(['x'], DAY);
      clock.advance(DAY.ttlMs - 1_000);
      expect(await ledger.announceOnce(['x'], DAY)).toEqual([false]);
      clock.advance(1_000);
      expect(await ledger.announceOnce(['x'], DAY)).toEqual([true]);
      expect(await ledger.announceOnce(['x'], DAY)).toEqual([false]);
    });

    test('asking whether it was said says nothing', async () => {
      const { ledger, clock } = build();
      const asking = { ...DAY, ttlMs: -600_000 };
      expect(await ledger.announceOnce(['x'], asking)).toEqual([true]);
      expect(await ledger.announceOnce(['x'], { ...DAY, ttlMs: 0 })).toEqual([true]);
      clock.advance(-300_000);
      expect(await ledger.announceOnce(['y'], asking)).toEqual([true]);
      expect(await ledger.announceOnce(['y'], asking)).toEqual([true]);
      expect(await ledger.announceOnce(['y'], DAY)).toEqual([true]);
      expect(await ledger.announceOnce(['y'], asking)).toEqual([false]);
      expect(await ledger.announceOnce(['y'], DAY)).toEqual([false]);
    });
  });

  describe('jobs nobody asked about', () => {
    const ran = (jobId: number, over: Partial<BypassRequest> = {}): BypassRequest => ({
      ...anAsk(jobId, [
        claim('group/1', 1000, 50),
        claim('group/1', 600, 60, { unit: 'seconds', counter: counter('group/1', 'minutes-month') }),
        claim('group/1', 1, 1, { unit: 'jobs', counter: counter('group/1', 'at-once', 'now') }),
        claim('group/1', 1, 1, { unit: 'starts', counter: counter('group/1', 'starts', '2026-11-21T12Z') }),
      ]),
      durationSeconds: 90,
      endedAtMs: Date.UTC(2026, 10, 21, 11, 30),
      ...over,
    });
    const keys = [
      counter('group/1'),
      counter('group/1', 'minutes-month'),
      counter('group/1', 'at-once', 'now'),
      counter('group/1', 'starts', '2026-11-21T12Z'),
    ];
    const shown = async ({ ledger }: House) =>
      (await ledger.readCounters(keys)).map(({ committed, fitted, settled, unchecked }) => [
        committed,
        fitted,
        settled,
        unchecked.bypass,
      ]);
    const CHARGED_ONCE = [
      [90, 90, 90, 90],
      [90, 90, 90, 90],
      [0, 0, 0, 0],
      [1, 1, 1, 1],
    ];

    test('is charged what it took at once, past every bound, counted as bypass and in no slot', async () => {
      const house = build();
      expect(await house.ledger.recordBypass([ran(1)])).toEqual(['applied']);
      expect(await shown(house)).toEqual(CHARGED_ONCE);
      expect(await house.ledger.readRecord(1)).toMatchObject({
        state: 'SETTLED',
        generation: 1,
        rev: 1,
        unchecked: 'bypass',
        answered: 'unknown',
        flagged: false,
        durationSeconds: 90,
        decidedAtMs: Date.UTC(2026, 10, 21, 11, 28, 30),
        endedAtMs: Date.UTC(2026, 10, 21, 11, 30),
      });
      expect(await house.store.due(1, Number.MAX_SAFE_INTEGER, 10, READ)).toEqual([]);
      expect(await house.drift()).toEqual([]);
    });

    test('asked about afterwards, it is told admitted and charged nothing more, though no limit has room', async () => {
      const house = build();
      await house.ledger.recordBypass([ran(1)]);
      expect(await house.hold([anAsk(1, [claim('group/1', 1000, 50)])])).toMatchObject([
        { outcome: 'admitted', generation: 1, repeated: true },
      ]);
      expect(await shown(house)).toEqual(CHARGED_ONCE);
    });

    test('told by the fallback afterwards, it is charged once and says so', async () => {
      const house = build();
      await house.ledger.recordBypass([ran(1)]);
      const told = { answered: 'admitted', cause: 'deadline', answeredAtMs: house.clock.nowMs() } as const;
      await house.ledger.recordUnmetered([{ ...ran(1), ...told }], house.clock.monotonicMs() + 300_000);
      expect(await house.ledger.readRecord(1)).toMatchObject({ state: 'SETTLED', answered: 'fallback' });
      expect(await shown(house)).toEqual(CHARGED_ONCE);
    });

    test('if an admission got there first, it settles on that record’s counters', async () => {
      const house = build();
      await house.hold([anAsk(1, [claim('group/2', 100, 1000)])]);
      expect(await house.ledger.recordBypass([ran(1)])).toEqual(['applied']);
      expect(await house.ledger.readRecord(1)).toMatchObject({ state: 'SETTLED', answered: 'ledger' });
      expect([await house.committed('group/1'), await house.committed('group/2')]).toEqual([0, 90]);
    });
  });

  describe('due times', () => {
    const FOREVER = Number.MAX_SAFE_INTEGER;
    const dueIds = async (ledger: Ledger, beforeMs: number, limit = 1_000): Promise<number[]> =>
      (await ledger.dueJobs(beforeMs, limit)).map(({ jobId }) => jobId);

    test('live jobs of all shards come oldest first, and those not due do not', async () => {
      const { hold, ledger, clock } = build();
      for (let jobId = 40; jobId > 0; jobId -= 1) {
        await hold([anAsk(jobId, [], { facts: someFacts({ timeoutSeconds: jobId }) })]);
      }
      const dueMs = (jobId: number): number => clock.nowMs() + (jobId + GRACE_SECONDS) * 1000;
      const inOrder = Array.from({ length: 40 }, (_, index) => index + 1);
      expect(await dueIds(ledger, FOREVER)).toEqual(inOrder);
      expect(await dueIds(ledger, dueMs(21))).toEqual(inOrder.slice(0, 20));
      expect((await ledger.dueJobs(FOREVER, 1))[0]).toMatchObject({ dueAtMs: expect.any(Number) });
    });

    test('one full shard is read to the limit, and beside others hides none of them', async () => {
      const { hold, ledger } = build();
      // Ids that fall into one shard, and one of another.
      await hold(Array.from({ length: 40 }, (_, index) => anAsk(16 * (index + 1), [])));
      await hold([anAsk(3, [])]);
      expect(await dueIds(ledger, FOREVER)).toHaveLength(41);
      expect(await dueIds(ledger, FOREVER, 32)).toHaveLength(32);
      await ledger.postpone([{ jobId: 3, dueAtMs: 1 }]);
      expect(await dueIds(ledger, FOREVER, 8)).toContain(3);
    });

    test('a postponed job moves in the index and counts as before', async () => {
      const { hold, ledger, committed, clock, settle, drift } = build();
      await hold([1, 2].map((jobId) => anAsk(jobId, [claim('group/1', 10, 100)])));
      const [first] = await ledger.dueJobs(FOREVER, 10);
      if (first === undefined) throw new Error('two jobs were held and none is due');
      const later = first.dueAtMs + 60_000;
      expect(await ledger.postpone([{ jobId: 1, dueAtMs: later }])).toEqual(['applied']);
      expect(await ledger.dueJobs(FOREVER, 10)).toEqual([
        { jobId: 2, dueAtMs: first.dueAtMs },
        { jobId: 1, dueAtMs: later },
      ]);
      expect(await dueIds(ledger, later)).toEqual([2]);
      expect(await ledger.readRecord(1)).toMatchObject({ state: 'HELD', dueAtMs: later, rev: 2 });
      expect(await committed('group/1')).toBe(20);
      await settle({ 1: 3 }, clock.nowMs());
      expect(await dueIds(ledger, FOREVER)).toEqual([2]);
      expect(await drift()).toEqual([]);
    });

    test('what ended stays ended: it cannot be postponed back into the index', async () => {
      const { hold, ledger, other } = build();
      await hold([1, 2, 3].map((jobId) => anAsk(jobId, [claim('group/1', 10, 100)])));
      await Promise.all([
        other.release([{ jobId: 1, cause: 'canceled' }]),
        ledger.postpone([{ jobId: 1, dueAtMs: 5 }]),
      ]);
      await other.release([{ jobId: 2, cause: 'canceled' }]);
      expect(
        await ledger.postpone([
          { jobId: 1, dueAtMs: 9 },
          { jobId: 2, dueAtMs: 9 },
          { jobId: 3, dueAtMs: 9 },
          { jobId: 3, dueAtMs: 9 },
          { jobId: 99, dueAtMs: 9 },
        ]),
      ).toEqual(['unchanged', 'unchanged', 'applied', 'unchanged', 'unknown']);
      expect(await dueIds(ledger, FOREVER)).toEqual([3]);
    });
  });

  describe('room that is kept for a retried job', () => reservationContract(build));

  describe('limits that were changed meanwhile', () => {
    /** How often it was asked, and whether the limits are current. */
    const asking = (current: boolean) => {
      const asked = { times: 0 };
      const limitsAreCurrent = async (): Promise<boolean> => {
        asked.times += 1;
        return current;
      };
      return { asked, limitsAreCurrent };
    };
    const security: Violation = {
      rule: 'images',
      class: 'security',
      mode: 'enforce',
      reason: { code: 'IMAGE_NOT_ALLOWED', image: 'x', allowed: [] },
    };

    test('nobody is rejected for a limit that is not in force any more, and nothing of it is written', async () => {
      const { ledger, clock, committed } = build();
      const { asked, limitsAreCurrent } = asking(false);
      const asks = [
        anAsk(1, [claim('group/1', 60, 100)]),
        anAsk(2, [claim('group/1', 60, 100)]),
        anAsk(3, [], { violations: [blocked] }),
        anAsk(4, [claim('group/1', 30, 100)]),
      ];
      const outcomes = await ledger.hold(asks, clock.monotonicMs() + 300_000, { limitsAreCurrent });
      expect(words(outcomes)).toEqual('admitted undecided:stale_limits undecided:stale_limits admitted');
      expect(asked.times).toBe(1);
      expect(await ledger.readRecords([2, 3])).toEqual([undefined, undefined]);
      expect(await committed('group/1')).toBe(90);
    });

    test('a full counter that only the refused write shows asks, too, once for all packs of the call', async () => {
      const { hold, ledger, other, clock } = build();
      await hold([anAsk(1, [claim('group/1', 100, 100), claim('group/2', 100, 100)])]);
      const { asked, limitsAreCurrent } = asking(true);
      const asks = Array.from({ length: 130 }, (_, index) =>
        anAsk(index + 2, [claim(`group/${1 + (index % 2)}`, 10, 100)]),
      );
      const outcomes = await other.hold(asks, clock.monotonicMs() + 300_000, { limitsAreCurrent });
      expect(new Set(outcomes.map(wordOf))).toEqual(new Set(['rejected']));
      expect(asked.times).toBe(1);
      expect((await ledger.readRecord(131))?.state).toBe('REJECTED');
    });

    test('what fits, what only watches, what is answered from its record and what security rejects asks nothing', async () => {
      const { hold, ledger, clock } = build();
      await hold([anAsk(1, [claim('group/1', 60, 100)]), anAsk(2, [claim('group/1', 60, 100)])]);
      const { asked, limitsAreCurrent } = asking(false);
      const asks = [
        anAsk(1, [claim('group/1', 60, 100)]),
        anAsk(3, [claim('group/1', 40, 100)]),
        anAsk(4, [shadowClaim('group/2', 60, 50)]),
        anAsk(5, [claim('group/3', 60, 100)], { violations: [security] }),
        anAsk(6, [claim('group/1', 60, 100)], { violations: [security, blocked] }),
      ];
      const outcomes = await ledger.hold(asks, clock.monotonicMs() + 300_000, { limitsAreCurrent });
      expect(words(outcomes)).toEqual('admitted admitted admitted rejected rejected');
      expect(asked.times).toBe(0);
    });

    test('a job that came back is decided by new limits under the same id, as if nobody had asked before', async () => {
      const { ledger, clock, committed } = build();
      const { limitsAreCurrent } = asking(false);
      const late = clock.monotonicMs() + 300_000;
      await ledger.hold([anAsk(1, [claim('group/1', 60, 50)])], late, { limitsAreCurrent });
      expect(await ledger.hold([anAsk(1, [claim('group/1', 60, 80)])], late)).toMatchObject([
        { outcome: 'admitted', generation: 1, repeated: false },
      ]);
      expect(await committed('group/1')).toBe(60);
    });
  });
}
